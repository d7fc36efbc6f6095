import { createHmac } from 'node:crypto';
import { type Claims, goodClaims, type Signer } from './signer.ts';

/** Tokens that are no proof for an order of `user-1`, and what a verifier says about each. */

export interface Forgery {
  readonly name: string;
  readonly verdict: 'INVALID' | 'EXPIRED';
  /** @param ours whose keys the verifier trusts @param attacker whose keys it does not know */
  readonly make: (ours: Signer, attacker: Signer) => Promise<string> | string;
}

const ATTACKER_URL = 'http://127.0.0.1:9/jwks.json';
const now = () => Math.floor(Date.now() / 1_000);

export const FORGERIES: readonly Forgery[] = [
  signed('an empty text', () => ''),
  signed('a text that is no token', () => 'proceed: true'),
  signed('a text that is too long', async (ours) => `${await ours.sign()}.${'A'.repeat(10_000)}`),
  claims('for another service', { aud: 'payments' }),
  claims('for several services', { aud: ['orders', 'payments'] }),
  claims('for no service', { aud: undefined }),
  claims('for another action', { act: 'deleteAccount' }),
  claims('for no action', { act: undefined }),
  claims('of another person', { sub: 'user-2' }),
  claims('of a person who is no text', { sub: ['user-1'] }),
  claims('of nobody in particular, in an unknown way', { sub: null }),
  claims("of the company's login issuer, by the same key", { iss: 'https://login.example' }),
  claims('without an issuer', { iss: undefined }),
  claims('without an assurance', { asr: undefined }),
  claims('with an assurance that does not exist', { asr: 'certain' }),
  claims('without a captcha id', { cid: undefined }),
  claims('without an id', { jti: undefined }),
  claims('with an id that is no text', { jti: { toString: 'x' } }),
  claims('longer than an attestation can be', { padding: 'x'.repeat(2_048) }),
  claims('without an end', { exp: undefined }),
  claims('with an end that is no number', { exp: '9999999999' }),
  claims('without a beginning', { iat: undefined }),
  timed('expired', 'EXPIRED', () => ({ iat: now() - 150, exp: now() - 30 })),
  timed('older than an attestation may be, with a late end', 'EXPIRED', () => ({ iat: now() - 400, exp: now() + 400 })),
  timed('issued in the future', 'INVALID', () => ({ iat: now() + 60, exp: now() + 180 })),
  timed('not yet valid', 'INVALID', () => ({ nbf: now() + 60 })),
  signed('of another type: a login token', (ours) => ours.sign({}, { typ: 'JWT' })),
  signed('of no type', (ours) => ours.sign({}, { typ: undefined })),
  signed('with alg none and no signature', (ours) => `${unsigned({ alg: 'none' }, ours)}.`),
  signed(
    'with alg None and a signature',
    async (ours) => `${unsigned({ alg: 'None' }, ours)}.${lastPart(await ours.sign())}`,
  ),
  signed('without alg', (ours) => `${unsigned({ alg: undefined }, ours)}.`),
  signed('HS256, keyed with the public key as PEM', (ours) => hmac(ours, publicPem(ours))),
  signed('HS256, keyed with the public key as JWK', (ours) => hmac(ours, JSON.stringify(ours.publicJwk))),
  signed('HS256, keyed with an empty text', (ours) => hmac(ours, '')),
  signed('by a key of the attacker with our kid', (ours, attacker) => attacker.sign({}, { kid: ours.kid })),
  signed('by a key of the attacker without a kid', (_ours, attacker) => attacker.sign({}, { kid: undefined })),
  signed('with an unknown kid', (_ours, attacker) => attacker.sign()),
  signed('with a path as kid', (_ours, attacker) => attacker.sign({}, { kid: '../../../../dev/null' })),
  signed('with an address as kid', (_ours, attacker) => attacker.sign({}, { kid: ATTACKER_URL })),
  signed('with SQL as kid', (_ours, attacker) => attacker.sign({}, { kid: "' OR 1=1 --" })),
  signed('with jku at the attacker', (ours, attacker) => attacker.sign({}, { kid: ours.kid, jku: ATTACKER_URL })),
  signed('with x5u at the attacker', (ours, attacker) => attacker.sign({}, { kid: ours.kid, x5u: ATTACKER_URL })),
  signed("with the attacker's own jwk", (ours, attacker) =>
    attacker.sign({}, { kid: ours.kid, jwk: attacker.publicJwk }),
  ),
  signed('with an extension that must be understood', async (ours) => {
    const [, payload = '', signature = ''] = (await ours.sign()).split('.');
    return [part({ alg: 'ES256', kid: ours.kid, crit: ['exp'], exp: 1 }), payload, signature].join('.');
  }),
  signed('without its signature', async (ours) => `${withoutLastPart(await ours.sign())}.`),
  signed('without its last part', async (ours) => withoutLastPart(await ours.sign())),
  signed('with half of its signature', async (ours) => (await ours.sign()).slice(0, -43)),
  signed('with its signature twice', async (ours) => {
    const token = await ours.sign();
    return token + lastPart(token);
  }),
  signed('with a second signature as a fourth part', async (ours) => {
    const token = await ours.sign();
    return `${token}.${lastPart(token)}`;
  }),
  signed('with a signature of zeros', async (ours) => `${withoutLastPart(await ours.sign())}.${'A'.repeat(86)}`),
  signed('with the signature of another token', async (ours) => {
    return `${withoutLastPart(await ours.sign())}.${lastPart(await ours.sign())}`;
  }),
  signed('with the claims of another token', async (ours) => {
    const [header = '', , signature = ''] = (await ours.sign({ sub: 'user-2' })).split('.');
    return [header, part(goodClaims()), signature].join('.');
  }),
];

function signed(name: string, make: Forgery['make'], verdict: Forgery['verdict'] = 'INVALID'): Forgery {
  return { name, make, verdict };
}

/** By our own key: what the device-trust subgraph would never sign, or signed for another purpose. */
function claims(name: string, changes: Claims): Forgery {
  return signed(name, (ours) => ours.sign(changes));
}

function timed(name: string, verdict: Forgery['verdict'], changes: () => Claims): Forgery {
  return signed(name, (ours) => ours.sign(changes()), verdict);
}

function part(json: unknown): string {
  return Buffer.from(JSON.stringify(json)).toString('base64url');
}

/** Header and claims of a good attestation, with these changes of the header. */
function unsigned(header: Claims, { kid }: Signer): string {
  return `${part({ typ: 'captcha-attestation+jwt', kid, ...header })}.${part(goodClaims())}`;
}

function hmac(ours: Signer, key: string): string {
  const input = unsigned({ alg: 'HS256' }, ours);
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
}

function publicPem({ publicKey }: Signer): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

function lastPart(token: string): string {
  return token.slice(token.lastIndexOf('.') + 1);
}

function withoutLastPart(token: string): string {
  return token.slice(0, token.lastIndexOf('.'));
}
