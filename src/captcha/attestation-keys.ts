import { createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { SignJWT } from 'jose/jwt/sign';

/** A key of ATTESTATION_KEYS: a private JWK (RFC 7518, section 6.2) with its id and its place in the rotation. */
export interface AttestationKey {
  readonly kid: string;
  /** `active` signs. `next` and `retired` are only published, so that verifiers know them before and after. */
  readonly state: 'next' | 'active' | 'retired';
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly d: string;
}

/** Makes a fresh key. Its id is its thumbprint (RFC 7638), so no two keys have the same. */
export function generateKey(state: AttestationKey['state']): AttestationKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' });
  // Section 3.3 of RFC 7638 prescribes these members in this order.
  const thumbprint = createHash('sha256').update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }));
  return { kid: thumbprint.digest('base64url'), state, kty: 'EC', crv: 'P-256', x, y, d };
}

/** Signs attestations, and publishes the keys with which they are verified. */
export interface AttestationSigner {
  /** Signs with the active key. Resolves with a JWS in compact form. */
  sign(claims: JWTPayload): Promise<string>;
  /** The JWK set (RFC 7517, section 5) with the public part of every key, as JSON. */
  readonly jwks: string;
}

/** Only an attestation has this type, so no other token is taken for one (RFC 8725, section 3.11). */
const TYPE = 'captcha-attestation+jwt';

/**
 * Makes a signer for these keys.
 *
 * @throws Error unless one key is active, which a parsed configuration guarantees
 */
export function createSigner(keys: readonly AttestationKey[]): AttestationSigner {
  const active = keys.find(({ state }) => state === 'active');
  if (!active) throw new Error('expected an active key, but got none');
  const { kid, kty, crv, x, y, d } = active;
  const key = createPrivateKey({ key: { kty, crv, x, y, d }, format: 'jwk' });
  const header = { alg: 'ES256', typ: TYPE, kid };
  const publicParts = keys.map(({ kid, kty, crv, x, y }) => ({ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' }));
  return {
    sign: (claims) => new SignJWT(claims).setProtectedHeader(header).sign(key),
    jwks: JSON.stringify({ keys: publicParts }),
  };
}
