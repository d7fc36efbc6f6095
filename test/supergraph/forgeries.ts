import { createHmac } from 'node:crypto';
import { type Claims, goodClaims, type Signer } from './signer.ts';

/** Tokens that are no proof for an order of `user-1`, and what a verifier says about each. */

export interface Forgery {
  readonly name: string;
  readonly verdict: 'INVALID' | 'EXPIRED' | 'TRY_AGAIN';
  /** @param ours whose keys the verifier trusts @param attacker whose keys it does not know */
  readonly make: Make;
}
type Make = (ours: Signer, attacker: Signer) => Promise<string> | string;

const ATTACKER_URL = 'http://127.0.0.1:9/jwks.json';
const now = () => Math.floor(Date.now() / 1_000);

/** By our own key: what the device-trust subgraph would never sign, or signed for another purpose. */
const CLAIMS: Readonly<Record<string, Claims>> = {
  'for another service': { aud: 'payments' },
  'for several services': { aud: ['orders', 'payments'] },
  'for no service': { aud: undefined },
  'for another action': { action: 'deleteAccount' },
  'for no action': { action: undefined },
  'of another person': { sub: 'user-2' },
  'of a person who is no text': { sub: ['user-1'] },
  'of nobody in particular, in an unknown way': { sub: null },
  "of the company's login issuer, by the same key": { iss: 'https://login.example' },
  'without an issuer': { iss: undefined },
  'without an assurance': { assurance: undefined },
  'with an assurance that does not exist': { assurance: 'certain' },
  'without a captcha id': { captcha_id: undefined },
  'without an id': { jti: undefined },
  'with an id that is no text': { jti: { toString: 'x' } },
  'longer than an attestation can be': { padding: 'x'.repeat(2_048) },
  'without an end': { exp: undefined },
  'with an end that is no number': { exp: '9999999999' },
  'without a beginning': { iat: undefined },
};

const INVALID: Readonly<Record<string, Make>> = {
  'an empty text': () => '',
  'a text that is no token': () => 'proceed: true',
  'a header of 1,500 lists in each other': () => `${Buffer.from('['.repeat(1_500)).toString('base64url')}.e30.AAAA`,
  'a text that is too long': async (ours) => `${await ours.sign()}.${'A'.repeat(10_000)}`,
  ...Object.fromEntries(Object.entries(CLAIMS).map(([name, changes]) => [name, (ours: Signer) => ours.sign(changes)])),
  'issued in the future': (ours) => ours.sign({ iat: now() + 60, exp: now() + 180 }),
  'not yet valid': (ours) => ours.sign({ nbf: now() + 60 }),
  'of another type: a login token': (ours) => ours.sign({}, { typ: 'JWT' }),
  'of no type': (ours) => ours.sign({}, { typ: undefined }),
  'with alg none and no signature': (ours) => `${unsigned({ alg: 'none' }, ours)}.`,
  'with alg None and a signature': async (ours) => `${unsigned({ alg: 'None' }, ours)}.${lastPart(await ours.sign())}`,
  'without alg': (ours) => `${unsigned({ alg: undefined }, ours)}.`,
  'HS256, keyed with the public key as PEM': (ours) =>
    hmac(ours, ours.publicKey.export({ type: 'spki', format: 'pem' }).toString()),
  'HS256, keyed with the public key as JWK': (ours) => hmac(ours, JSON.stringify(ours.publicJwk)),
  'HS256, keyed with an empty text': (ours) => hmac(ours, ''),
  'by a key of the attacker with our kid': (ours, attacker) => attacker.sign({}, { kid: ours.kid }),
  'by a key of the attacker without a kid': (_ours, attacker) => attacker.sign({}, { kid: undefined }),
  'with jku at the attacker': (ours, attacker) => attacker.sign({}, { kid: ours.kid, jku: ATTACKER_URL }),
  'with x5u at the attacker': (ours, attacker) => attacker.sign({}, { kid: ours.kid, x5u: ATTACKER_URL }),
  "with the attacker's own jwk": (ours, attacker) => attacker.sign({}, { kid: ours.kid, jwk: attacker.publicJwk }),
  'with an extension that must be understood': async (ours) => {
    const [, payload = '', signature = ''] = (await ours.sign()).split('.');
    return [part({ alg: 'ES256', kid: ours.kid, crit: ['exp'], exp: 1 }), payload, signature].join('.');
  },
  'without its signature': async (ours) => `${withoutLastPart(await ours.sign())}.`,
  'without its last part': async (ours) => withoutLastPart(await ours.sign()),
  'with half of its signature': async (ours) => (await ours.sign()).slice(0, -43),
  'with its signature twice': async (ours) => (await ours.sign()).replace(/[^.]+$/, '$&$&'),
  'with a second signature as a fourth part': async (ours) => (await ours.sign()).replace(/[^.]+$/, '$&.$&'),
  'with a signature of zeros': async (ours) => `${withoutLastPart(await ours.sign())}.${'A'.repeat(86)}`,
  'with the signature of another token': async (ours) =>
    `${withoutLastPart(await ours.sign())}.${lastPart(await ours.sign())}`,
  'with the claims of another token': async (ours) => {
    const [header = '', , signature = ''] = (await ours.sign({ sub: 'user-2' })).split('.');
    return [header, part(goodClaims()), signature].join('.');
  },
};

/** A verifier that has just asked for the keys cannot tell them from tokens by a new key. */
const UNKNOWN_KEY: Readonly<Record<string, Make>> = {
  'with an unknown kid': (_ours, attacker) => attacker.sign(),
  'with a path as kid': (_ours, attacker) => attacker.sign({}, { kid: '../../../../dev/null' }),
  'with an address as kid': (_ours, attacker) => attacker.sign({}, { kid: ATTACKER_URL }),
  'with SQL as kid': (_ours, attacker) => attacker.sign({}, { kid: "' OR 1=1 --" }),
};

const EXPIRED: Readonly<Record<string, Make>> = {
  expired: (ours) => ours.sign({ iat: now() - 150, exp: now() - 30 }),
  'older than 240 s, so that its id may be forgotten soon': (ours) => ours.sign({ iat: now() - 250, exp: now() + 50 }),
};

const listOf = (makers: Readonly<Record<string, Make>>, verdict: Forgery['verdict']): Forgery[] =>
  Object.entries(makers).map(([name, make]) => ({ name, make, verdict }));

export const FORGERIES: readonly Forgery[] = [
  ...listOf(INVALID, 'INVALID'),
  ...listOf(EXPIRED, 'EXPIRED'),
  ...listOf(UNKNOWN_KEY, 'TRY_AGAIN'),
];

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

function lastPart(token: string): string {
  return token.slice(token.lastIndexOf('.') + 1);
}

function withoutLastPart(token: string): string {
  return token.slice(0, token.lastIndexOf('.'));
}
