import { createLocalJWKSet, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { expect } from 'vitest';

/** What an audience does with an attestation. It shares no code with the side that signs. */

/** Verifies as the documentation tells an audience to: with everything pinned. Rejects otherwise. */
export async function verifyAttestation(
  attestation: string,
  jwks: string,
  overrides: JWTVerifyOptions = {},
): Promise<JWTPayload> {
  const { payload } = await jwtVerify(attestation, createLocalJWKSet(JSON.parse(jwks)), {
    algorithms: ['ES256'],
    typ: 'captcha-attestation+jwt',
    issuer: 'https://device-trust.sandbox',
    audience: 'orders',
    requiredClaims: ['action', 'assurance', 'captcha_id', 'jti', 'iat', 'exp'],
    ...overrides,
  });
  return payload;
}

/** The three parts of a JWS in compact form, decoded with nothing of a library. */
export function partsOf(attestation: string) {
  const [header = '', payload = '', signature = '', ...others] = attestation.split('.');
  expect(others).toEqual([]);
  const json = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  return { header: json(header), payload: json(payload), signed: `${header}.${payload}`, signature };
}
