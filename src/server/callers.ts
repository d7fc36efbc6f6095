import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller, Requester, TrustedMetadata } from '../graphql/caller.ts';
import { ANYONE, areScopesEnforced, ROUTER, type ServerSettings } from './settings.ts';
import {
  createMetadataReader,
  type RawHeaders,
  requesterOf,
  scopesOf,
  singleHeader,
  subjectOf,
} from './trusted-headers.ts';

/** A bearer token (RFC 6750, section 2.1), with any secret that can be configured. */
const BEARER = /^bearer +([!-~]+)$/i;
/** A peer on this machine, in the forms in which a socket names it (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5). */
const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/i;
const NO_SCOPES: ReadonlySet<string> = new Set();
const NO_HEADERS: RawHeaders = { rawHeaders: [] };

/** Makes the function that identifies a caller by its secret: anyone if no secret is configured, undefined without a known one. */
export function identifierOf(settings: ServerSettings, trustsLoopback = false) {
  const { trustedHeaders = {} } = settings;
  const { subject: subjectHeader, scopes: scopesHeader, metadata = {} } = trustedHeaders;
  const readMetadata = createMetadataReader(metadata);
  const credential = (name: string, secret: string, scopes?: readonly string[]) => ({
    name,
    /** Undefined if scopes come from the person behind the request. */
    scopes: scopes && new Set(scopes),
    secret: Buffer.from(secret),
  });
  const routers = settings.routerSecrets.map((secret) => credential(ROUTER, secret));
  const services = settings.services.map(({ name, secret, scopes }) => credential(name, secret, scopes));
  const enforcesScopes = areScopesEnforced(settings);

  /** A class, because V8 gives each object with getters of its own a new shape, which took 5 % of the CPU. */
  class KnownCaller implements Caller {
    readonly name: string;
    readonly isService: boolean;
    readonly subject: string | undefined;
    readonly scopes: ReadonlySet<string> | undefined;
    readonly #request: RawHeaders;
    #metadata: TrustedMetadata | undefined;

    constructor({ name, scopes }: Pick<Caller, 'name' | 'scopes'>, request: RawHeaders) {
      this.name = name;
      this.isService = name !== ROUTER && name !== ANYONE;
      this.subject = subjectOf(request, subjectHeader);
      this.scopes = scopes ?? (enforcesScopes ? (scopesOf(request, scopesHeader) ?? NO_SCOPES) : undefined);
      this.#request = request;
    }

    /** Read at the first use, because most operations need no metadata. */
    get metadata(): TrustedMetadata {
      this.#metadata ??= readMetadata(this.#request);
      return this.#metadata;
    }

    get requester(): Requester {
      return requesterOf(this, trustedHeaders);
    }
  }

  return (request: IncomingMessage): Caller | undefined => {
    if (routers.length + services.length === 0) {
      const isTrusted = trustsLoopback && LOOPBACK.test(request.socket.remoteAddress ?? '');
      // The headers of an untrusted caller count as missing, and not as unconfigured, so that arguments do not replace them.
      return new KnownCaller({ name: ANYONE, scopes: undefined }, isTrusted ? request : NO_HEADERS);
    }
    const found =
      find(routers, String(request.headers['router-authorization'] ?? '')) ??
      // With a router's secret, `Authorization` belongs to the person.
      find(services, BEARER.exec(singleHeader(request, 'authorization') ?? '')?.[1] ?? '');
    return found && new KnownCaller(found, request);
  };
}

/** The credential with this secret. All are compared, so the time reveals nothing of a secret but its length. */
function find<Credential extends { readonly secret: Buffer }>(known: readonly Credential[], presented: string) {
  const bytes = Buffer.from(presented);
  let found: Credential | undefined;
  for (const credential of known)
    if (credential.secret.length === bytes.length && timingSafeEqual(credential.secret, bytes)) found = credential;
  return found;
}
