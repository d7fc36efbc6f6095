import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../graphql/caller.ts';
import { createMetadataReader, type MetadataReader, type OnDropped } from './metadata-headers.ts';
import { singleHeader } from './single-header.ts';
import { scopesOf, subjectOf, type TrustedHeaders } from './trusted-headers.ts';

/** The secrets that callers present. */
export interface CallerSecrets {
  readonly routerSecrets: readonly string[];
  readonly services: readonly Service[];
}

/** A service that asks directly, without the router. */
interface Service {
  readonly name: string;
  readonly secret: string;
  readonly scopes: readonly string[];
}

interface Options extends CallerSecrets {
  readonly trustedHeaders: TrustedHeaders | undefined;
  /** If no secret is configured, are the headers of this machine trusted? For the sandbox, where everything can be tried. */
  readonly trustsLoopback: boolean;
  /** Is told about arguments that do not count, because a header carries the same. */
  readonly onDroppedMetadata?: OnDropped;
}

/** The name of the router in the log and the metrics, which no service may have. */
export const ROUTER = 'router';

/** Whoever reaches the port. */
export const ANYONE: Caller = { name: 'anyone', subject: undefined, scopes: undefined };

/** No configured secret is longer, in characters, which are visible ASCII. */
const MAX_SECRET_LENGTH = 256;
/** A bearer token (RFC 6750, section 2.1), with any secret that can be configured. */
const BEARER = /^bearer +([!-~]+)$/i;
/** A peer on this machine, in the forms in which a socket names it (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5). */
const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/i;
const NO_SCOPES: ReadonlySet<string> = new Set();

/** A caller that has to present a secret, and that secret. */
interface KnownCaller {
  readonly caller: Caller;
  readonly secretBytes: Buffer;
}

/** Who may send GraphQL requests: the router and services that know a secret, or anyone if no secret is configured. */
export class Callers {
  readonly #trustedHeaders: TrustedHeaders;
  readonly #trustsLoopback: boolean;
  readonly #metadataOf: MetadataReader | undefined;
  #anyone = ANYONE;
  #routers: readonly KnownCaller[] = [];
  #services: readonly KnownCaller[] = [];

  constructor({ trustedHeaders = {}, trustsLoopback, onDroppedMetadata = () => {}, ...secrets }: Options) {
    this.#trustedHeaders = trustedHeaders;
    this.#trustsLoopback = trustsLoopback;
    const { metadata } = trustedHeaders;
    this.#metadataOf = metadata && createMetadataReader(metadata, onDroppedMetadata);
    this.replaceSecrets(secrets);
  }

  /** Replaces all secrets at once, for a rotation. Requests under way keep the caller that they have. */
  replaceSecrets({ routerSecrets, services }: CallerSecrets): void {
    const hasScopes = services.length > 0 || this.#trustedHeaders.scopes !== undefined;
    const scopes = hasScopes ? NO_SCOPES : undefined;
    const router: Caller = { name: ROUTER, subject: undefined, scopes };
    this.#anyone = { ...ANYONE, scopes };
    this.#routers = routerSecrets.map((secret) => ({ caller: router, secretBytes: padded(secret) }));
    this.#services = services.map(({ name, secret, scopes }) => ({
      caller: { name, subject: undefined, scopes: new Set(scopes) },
      secretBytes: padded(secret),
    }));
  }

  /** Who sent this request. Undefined if the sender has to present a secret and presents none that is known. */
  identify(request: IncomingMessage): Caller | undefined {
    if (this.#routers.length + this.#services.length === 0) {
      const isTrusted = this.#trustsLoopback && LOOPBACK.test(request.socket.remoteAddress ?? '');
      if (isTrusted) return this.#onBehalf(this.#anyone, request);
      // The headers of others are ignored, and for them too an argument does not count in place of a header.
      return { ...this.#anyone, completeMetadata: this.#metadataOf?.(undefined) };
    }
    const router = find(this.#routers, String(request.headers['router-authorization'] ?? ''));
    if (router) return this.#onBehalf(router, request);
    // Beside a router secret, `Authorization` is that of a person.
    const service = find(this.#services, bearerOf(request));
    return service && this.#withPerson(service.name, service.scopes, request);
  }

  /** The caller with the person of the trusted headers, and with what this person may see. */
  #onBehalf({ name, scopes }: Caller, request: IncomingMessage): Caller {
    const header = this.#trustedHeaders.scopes;
    return this.#withPerson(name, header === undefined ? scopes : (scopesOf(request, header) ?? NO_SCOPES), request);
  }

  #withPerson(name: string, scopes: Caller['scopes'], request: IncomingMessage): Caller {
    const header = this.#trustedHeaders.subject;
    const subject = header === undefined ? undefined : subjectOf(request, header);
    return { name, subject, scopes, completeMetadata: this.#metadataOf?.(request) };
  }
}

function bearerOf(request: IncomingMessage): string {
  const value = singleHeader(request, 'authorization') ?? '';
  return BEARER.exec(value)?.[1] ?? '';
}

/** The secret that is compared at the moment. All requests can use the same bytes, because no comparison is interrupted. */
const presentedBytes = Buffer.alloc(MAX_SECRET_LENGTH);

/** The one that has this secret. All are compared, whatever fits, so the time reveals nothing about any secret. */
function find(known: readonly KnownCaller[], presented: string): Caller | undefined {
  if (known.length === 0 || presented === '' || presented.length > MAX_SECRET_LENGTH) return undefined;
  padInto(presentedBytes, presented);
  let found: Caller | undefined;
  for (const { caller, secretBytes } of known) if (timingSafeEqual(secretBytes, presentedBytes)) found = caller;
  return found;
}

/** The secret in a buffer that always has the same length. */
function padded(secret: string): Buffer {
  return padInto(Buffer.alloc(MAX_SECRET_LENGTH), secret);
}

/** Writes a secret and zeros after it, which no header contains. */
function padInto(bytes: Buffer, secret: string): Buffer {
  return bytes.fill(0, bytes.write(secret, 'latin1'));
}
