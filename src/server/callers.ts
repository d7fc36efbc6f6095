import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { CaptchaCaller, Requester } from '../captcha/fail-open-budget.ts';
import type { FingerprintCaller, TrustedMetadata } from '../fingerprint/request.ts';
import { ANYONE, ROUTER, type ServerSettings } from './settings.ts';
import {
  createMetadataReader,
  requesterOf,
  scopesOf,
  singleHeader,
  subjectOf,
  type TrustedHeaders,
} from './trusted-headers.ts';

type CallerSecrets = Pick<ServerSettings, 'routerSecrets' | 'services'>;

/** A caller with the parts that each slice reads. */
export type IdentifiedCaller = FingerprintCaller & CaptchaCaller;

/** Every GraphQL request must present one of the secrets; with none, anyone may ask. */
export interface CallerOptions extends CallerSecrets, Pick<ServerSettings, 'trustedHeaders'> {
  /** If no secret is configured, are the headers of this machine trusted? For the sandbox, where everything can be tried. */
  readonly trustsLoopback?: boolean;
}

/** Is this the name of a service? Without any secret, everybody counts as the router. */
export const isService = (caller: string): boolean => caller !== ROUTER && caller !== ANYONE;

/** A bearer token (RFC 6750, section 2.1), with any secret that can be configured. */
const BEARER = /^bearer +([!-~]+)$/i;
/** A peer on this machine, in the forms in which a socket names it (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5). */
const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/i;
const NO_SCOPES: ReadonlySet<string> = new Set();

interface KnownSender {
  readonly name: string;
  /** Undefined if scopes come from the person behind the request. */
  readonly scopes: ReadonlySet<string> | undefined;
  readonly secret: Buffer;
}

/** The senders of GraphQL requests: the router and services that know a secret, or anyone if none is configured. */
export function createCallers(options: CallerOptions) {
  const { trustedHeaders = {}, trustsLoopback = false } = options;
  const metadataOf = trustedHeaders.metadata && createMetadataReader(trustedHeaders.metadata);
  let routers: readonly KnownSender[] = [];
  let services: readonly KnownSender[] = [];

  /** Replaces all secrets at once, for a rotation. Requests under way keep the caller that they have. */
  function replaceSecrets(next: CallerSecrets): void {
    routers = next.routerSecrets.map((secret) => ({ name: ROUTER, scopes: undefined, secret: Buffer.from(secret) }));
    services = next.services.map(({ name, secret, scopes }) => ({
      name,
      scopes: new Set(scopes),
      secret: Buffer.from(secret),
    }));
  }
  replaceSecrets(options);

  /** A sender with the person in the trusted headers of a request, and this person's scopes. */
  function callerOf(
    { name, scopes }: Pick<KnownSender, 'name' | 'scopes'>,
    request: IncomingMessage | undefined,
  ): IdentifiedCaller {
    const { subject: header } = trustedHeaders;
    const subject = header !== undefined && request ? subjectOf(request, header) : undefined;
    const readMetadata = () => metadataOf?.(request) ?? [];
    return new KnownCaller(name, subject, scopes ?? scopesOfPerson(request), readMetadata, trustedHeaders);
  }

  /** Undefined if scopes are not enforced. */
  function scopesOfPerson(request: IncomingMessage | undefined): ReadonlySet<string> | undefined {
    const { scopes: header } = trustedHeaders;
    if (header === undefined) return services.length > 0 ? NO_SCOPES : undefined;
    return (request && scopesOf(request, header)) ?? NO_SCOPES;
  }

  return {
    replaceSecrets,
    hasRouter: () => routers.length > 0,
    /** The sender of a request. Undefined if it needs a known secret and presents none. */
    identify: (request: IncomingMessage): IdentifiedCaller | undefined => {
      if (routers.length + services.length === 0) {
        const isTrusted = trustsLoopback && LOOPBACK.test(request.socket.remoteAddress ?? '');
        // The headers of others are ignored, and for them too an argument does not count in place of a header.
        return callerOf({ name: ANYONE, scopes: undefined }, isTrusted ? request : undefined);
      }
      const sender =
        find(routers, String(request.headers['router-authorization'] ?? '')) ??
        // Beside a router secret, `Authorization` is that of a person.
        find(services, BEARER.exec(singleHeader(request, 'authorization') ?? '')?.[1] ?? '');
      return sender && callerOf(sender, request);
    },
  };
}

/** A class, because V8 gives each object with getters of its own a new shape, which took 5 % of the CPU. */
class KnownCaller implements IdentifiedCaller {
  readonly name: string;
  readonly subject: string | undefined;
  readonly scopes: ReadonlySet<string> | undefined;
  readonly #readMetadata: () => TrustedMetadata;
  readonly #headers: TrustedHeaders;
  #metadata: TrustedMetadata | undefined;

  constructor(
    name: string,
    subject: string | undefined,
    scopes: ReadonlySet<string> | undefined,
    readMetadata: () => TrustedMetadata,
    headers: TrustedHeaders,
  ) {
    this.name = name;
    this.subject = subject;
    this.scopes = scopes;
    this.#readMetadata = readMetadata;
    this.#headers = headers;
  }

  /** Headers are read when somebody asks for them, because most operations do not. */
  get metadata(): TrustedMetadata {
    this.#metadata ??= this.#readMetadata();
    return this.#metadata;
  }

  get requester(): Requester {
    return requesterOf(this, this.#headers);
  }
}

/** The sender with this secret. All are compared, so the time reveals nothing of a secret but its length. */
function find(known: readonly KnownSender[], presented: string): KnownSender | undefined {
  const bytes = Buffer.from(presented);
  let found: KnownSender | undefined;
  for (const sender of known)
    if (sender.secret.length === bytes.length && timingSafeEqual(sender.secret, bytes)) found = sender;
  return found;
}
