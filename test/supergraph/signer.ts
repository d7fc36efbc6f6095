import { createHmac, generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint, type JWK, SignJWT } from 'jose';
import type { AttestationKey } from '../../src/captcha/attestation.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** Keys and tokens like those of the device-trust subgraph, for tests that need one that it would never issue. */

export type Claims = Readonly<Record<string, unknown>>;

export type Signer = Awaited<ReturnType<typeof createSigner>>;

export const ISSUER = 'https://device-trust.example';

export async function createSigner() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const kid = await calculateJwkThumbprint(jwk);
  const publicJwk: JWK = { ...jwk, kid, alg: 'ES256', use: 'sig' };
  // As `ATTESTATION_KEYS` lists it. It has these members, because the key was made above.
  const attestationKey = { ...privateKey.export({ format: 'jwk' }), kid, state: 'active' } as AttestationKey;
  /** Signs the claims of a good attestation with these changes; a claim that is undefined is left out. */
  const sign = (changes: Claims = {}, header: Claims = {}): Promise<string> =>
    new SignJWT(goodClaims(changes))
      .setProtectedHeader({ alg: 'ES256', typ: 'captcha-attestation+jwt', kid, ...header })
      .sign(privateKey);
  return { publicKey, publicJwk, kid, attestationKey, sign };
}

let challenges = 0;

/** The claims of an attestation for the order service, of a challenge that was solved just now, with these changes. */
export function goodClaims(changes: Claims = {}): Record<string, unknown> {
  const iat = Math.floor(Date.now() / 1_000);
  const jti = createHmac('sha256', 'signer').update(String(challenges++)).digest('base64url');
  const claims = {
    iss: ISSUER,
    aud: 'orders',
    sub: 'user-1',
    action: 'placeOrder',
    assurance: 'verified',
    captcha_id: 'a'.repeat(32),
  };
  const all = { ...claims, jti, iat, exp: iat + 120, ...changes };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** A key set at an address, as the device-trust subgraph publishes it. Whoever starts one stops it. */
export async function startKeyServer(published: readonly JWK[]) {
  // Without keys every connection is reset.
  const controls: { keys: readonly JWK[] | undefined } = { keys: published };
  const { url, received, stop } = await startUpstream((_request, response) => {
    if (controls.keys) sendJson(response, 200, { keys: controls.keys });
    else response.destroy();
  });
  return Object.assign(controls, { jwksUrl: `${url}/.well-known/jwks.json`, asked: () => received.length, stop });
}
