import { importJWK, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { SANDBOX_ATTESTATION_KEY } from '../captcha/settings.ts';
import { parseJson, propertiesOf } from '../runtime/json.ts';
import { SANDBOX_ATTESTATION } from './accounts.ts';
import type { JsonResponse } from './http.ts';

/** A login service for pages in development, which accepts everybody with a proof of a captcha. */

export const LOG_IN_PATH = '/sandbox/log-in';

/** The ids of proofs that were used, as long as a proof can be valid. */
export const createUsedProofs = () => new LRUCache<string, true>({ max: 10_000, ttl: 300_000 });

const { kty, crv, x, y } = SANDBOX_ATTESTATION_KEY;

/** Verifies the `attestation` in a JSON body as a service does: 200 once for each proof, otherwise 401. */
export async function logIn(body: Buffer | undefined, used: LRUCache<string, true>): Promise<JsonResponse> {
  const refused = {
    status: 401,
    body: { problem: 'attestation: expected a proof for accounts and logIn that is new' },
  };
  const { attestation } = propertiesOf(parseJson(body ?? ''));
  if (typeof attestation !== 'string') return refused;
  const proof = await jwtVerify(attestation, await importJWK({ kty, crv, x, y }, 'ES256'), {
    algorithms: ['ES256'],
    typ: 'captcha-attestation+jwt',
    issuer: SANDBOX_ATTESTATION.issuer,
    audience: 'accounts',
    maxTokenAge: 240,
    clockTolerance: 5,
  }).catch(() => undefined);
  const { action, jti = '' } = proof?.payload ?? {};
  if (action !== 'logIn' || used.has(jti)) return refused;
  used.set(jti, true);
  return { status: 200, body: {} };
}
