import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose/jwt/sign';
import type { AttestationKey } from './attestation-keys.ts';

/** What was verified: a solved challenge, or nothing because the captcha service is down. */
export type Assurance = 'verified' | 'unverified';

/** The claims of an attestation. Times are in seconds since 1970. */
export interface AttestationClaims {
  readonly iss: string;
  readonly aud: string;
  /** The person. Absent only where the audience allows it. */
  readonly sub?: string;
  readonly act: string;
  readonly asr: Assurance;
  readonly cid: string;
  /** The same for every attestation of one challenge. */
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
}

/** Signs attestations, and publishes the keys with which they are verified. */
export interface AttestationSigner {
  /** Signs with the active key. Resolves with a JWS in compact form. */
  sign(claims: AttestationClaims): Promise<string>;
  /** The JWK set (RFC 7517, section 5) with the public part of every key, as JSON. */
  readonly jwks: string;
  /** Replaces every key at once. A signature that is under way keeps its key. */
  replaceKeys(keys: readonly AttestationKey[]): void;
}

/** Only an attestation has this type, so no other token is taken for one (RFC 8725, section 3.11). */
const TYPE = 'captcha-attestation+jwt';

/**
 * Makes a signer. Keys are imported once, and not for each signature.
 *
 * @throws Error unless one key is active, which a parsed configuration guarantees
 */
export function createSigner(keys: readonly AttestationKey[]): AttestationSigner {
  let current = prepare(keys);
  return {
    sign: (claims) => {
      const { key, header } = current;
      return new SignJWT({ ...claims }).setProtectedHeader(header).sign(key);
    },
    get jwks() {
      return current.jwks;
    },
    replaceKeys: (next) => {
      current = prepare(next);
    },
  };
}

function prepare(keys: readonly AttestationKey[]) {
  const active = keys.find(({ state }) => state === 'active');
  if (!active) throw new Error('expected an active key, but got none');
  const { kid, kty, crv, x, y, d } = active;
  const imported = createPrivateKey({ key: { kty, crv, x, y, d }, format: 'jwk' });
  const publicParts = keys.map(({ kid, kty, crv, x, y }) => ({ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' }));
  return {
    key: imported.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']),
    header: { alg: 'ES256', typ: TYPE, kid },
    jwks: JSON.stringify({ keys: publicParts }),
  };
}
