import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ADDRESS_KEYS, ANYONE, areScopesEnforced, type CallerSettings, ROUTER } from './settings.ts';
import type { Holder, Requester } from './shares.ts';
import {
  clientAddressOf,
  createMetadataReader,
  type RawHeaders,
  scopesIn,
  singleHeader,
  type TrustedHeaders,
  type TrustedMetadata,
  textIn,
} from './trusted-headers.ts';

/** A bearer token (RFC 6750, section 2.1), with any secret that can be configured. */
const BEARER = /^bearer +([!-~]+)$/i;
/** A loopback address, in every form that a socket reports (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5). */
const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/i;
const NO_HEADERS: RawHeaders = { rawHeaders: [] };

/** The caller of a request: the router or a service, and the person behind it. */
export type Caller = NonNullable<ReturnType<ReturnType<typeof identifierOf>>>;

/**
 * Makes the function that identifies a caller by its secret: anyone if no secret is configured, undefined for an unknown one.
 * In the sandbox, headers from this machine are trusted without a secret, so that every feature can be tried.
 */
export function identifierOf(settings: CallerSettings, trustsLoopback = false) {
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
  class Caller implements Holder {
    readonly name: string;
    readonly isService: boolean;
    /** The person behind the request; undefined if no trusted header names one. */
    readonly subject: string | undefined;
    /** Undefined if scopes are not enforced. */
    readonly scopes: ReadonlySet<string> | undefined;
    readonly #request: RawHeaders;
    #metadata: TrustedMetadata | undefined;

    constructor({ name, scopes }: Pick<Caller, 'name' | 'scopes'>, request: RawHeaders) {
      this.name = name;
      this.isService = name !== ROUTER && name !== ANYONE;
      this.subject = textIn(request, subjectHeader);
      this.scopes = scopes ?? (enforcesScopes ? scopesIn(request, scopesHeader) : undefined);
      this.#request = request;
    }

    /** The client as trusted headers describe it; empty if none is configured. Read on first use, because few requests need it. */
    get metadata(): TrustedMetadata {
      this.#metadata ??= readMetadata(this.#request);
      return this.#metadata;
    }

    /** The requester whose share of a limit counts. */
    get requester(): Requester {
      return requesterOf(this, trustedHeaders);
    }
  }

  return (request: IncomingMessage) => {
    if (routers.length + services.length === 0) {
      const isTrusted = trustsLoopback && LOOPBACK.test(request.socket.remoteAddress ?? '');
      // The headers of an untrusted caller count as missing, and not as unconfigured, so that arguments do not replace them.
      return new Caller({ name: ANYONE, scopes: undefined }, isTrusted ? request : NO_HEADERS);
    }
    const found =
      find(routers, String(request.headers['router-authorization'] ?? '')) ??
      // With a router's secret, `Authorization` belongs to the person.
      find(services, BEARER.exec(singleHeader(request, 'authorization') ?? '')?.[1] ?? '');
    return found && new Caller(found, request);
  };
}

/** The credential with this secret. All are compared, so the time reveals only a secret's length. */
function find<Credential extends { readonly secret: Buffer }>(known: readonly Credential[], presented: string) {
  const bytes = Buffer.from(presented);
  let found: Credential | undefined;
  for (const credential of known)
    if (credential.secret.length === bytes.length && timingSafeEqual(credential.secret, bytes)) found = credential;
  return found;
}

/** The kinds of requesters that these headers name. Only trusted headers tell one requester from another. */
export const namedKinds = ({ subject, metadata = {} }: TrustedHeaders) => [
  ...(subject === undefined ? [] : ['person']),
  ...(ADDRESS_KEYS.some((key) => key in metadata) ? ['network'] : []),
];

/** The person if known, otherwise the network. Accounts are harder to create than addresses are to change. */
export function requesterOf(caller: Pick<Caller, 'subject' | 'metadata'>, headers: TrustedHeaders): Requester {
  if (caller.subject !== undefined) return { kind: 'person', id: caller.subject };
  if (namedKinds(headers).length === 0) return { kind: 'untracked', id: '' };
  const known: TrustedMetadata[number]['found'] = {};
  for (const { found } of caller.metadata) Object.assign(known, found);
  const network = networkOf(known.ipAddrV4 ?? known.ipAddrV6 ?? '');
  return network === undefined ? { kind: 'anonymous', id: '' } : { kind: 'network', id: network };
}

/** An IPv4 address, or the first 56 bits of an IPv6 address, which a household shares (RFC 6177), normalised. */
function networkOf(address: string): string | undefined {
  const { ipAddrV4, ipAddrV6 } = clientAddressOf(address, {}) ?? {};
  if (ipAddrV6 === undefined) return ipAddrV4;
  const [before = [], after = []] = ipAddrV6.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const [first, second, third, fourth = ''] = [...before, ...zeros, ...after];
  return [first, second, third, fourth.padStart(4, '0').slice(0, 2)].join(':');
}
