import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, type JWK, SignJWT } from 'jose';
import type { AttestationKey } from '../../src/captcha/attestation-keys.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** Keys and tokens like those of the device-trust subgraph, for tests that need one that it would never issue. */

export type Claims = Readonly<Record<string, unknown>>;

export interface Signer {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly kid: string;
  readonly publicJwk: JWK;
  /** As `ATTESTATION_KEYS` lists it. */
  readonly attestationKey: AttestationKey;
  /** Signs the claims of a good attestation with these changes; a claim that is undefined is left out. */
  sign(changes?: Claims, header?: Claims): Promise<string>;
}

export const ISSUER = 'https://device-trust.example';

export async function createSigner(): Promise<Signer> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const kid = await calculateJwkThumbprint(jwk);
  return {
    privateKey,
    publicKey,
    kid,
    publicJwk: { ...jwk, kid, alg: 'ES256', use: 'sig' },
    // It has these members, because the key was made above.
    attestationKey: { ...privateKey.export({ format: 'jwk' }), kid, state: 'active' } as AttestationKey,
    sign: (changes = {}, header = {}) =>
      new SignJWT(goodClaims(changes))
        .setProtectedHeader({ alg: 'ES256', typ: 'captcha-attestation+jwt', kid, ...header })
        .sign(privateKey),
  };
}

let challenges = 0;

/** The claims of an attestation for the order service, of a challenge that was solved just now, with these changes. */
export function goodClaims(changes: Claims = {}): Record<string, unknown> {
  const iat = Math.floor(Date.now() / 1_000);
  const jti = createHmac('sha256', 'signer').update(String(challenges++)).digest('base64url');
  const claims = { iss: ISSUER, aud: 'orders', sub: 'user-1', act: 'placeOrder', asr: 'verified', cid: 'a'.repeat(32) };
  const all = { ...claims, jti, iat, exp: iat + 120, ...changes };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** A key set at an address, as the device-trust subgraph publishes it. Whoever starts one stops it. */
export interface KeyServer {
  readonly jwksUrl: string;
  /** Undefined: every connection is reset. */
  keys: readonly JWK[] | undefined;
  /** How often somebody asked. */
  readonly asked: () => number;
  stop(): Promise<void>;
}

export async function startKeyServer(keys: readonly JWK[]): Promise<KeyServer> {
  const server = await startUpstream((_request, response) => {
    if (keyServer.keys) sendJson(response, 200, { keys: keyServer.keys });
    else response.destroy();
  });
  const keyServer: KeyServer = {
    jwksUrl: `${server.url}/.well-known/jwks.json`,
    keys,
    asked: () => server.received.length,
    stop: server.stop,
  };
  return keyServer;
}
