import { jwtVerify } from 'jose';
import type { LRUCache } from 'lru-cache';
import { SANDBOX_ATTESTATION_KEY } from '../captcha/settings.ts';
import { parseJson, propertiesOf } from '../runtime/json.ts';
import { SANDBOX_ATTESTATION } from './accounts.ts';
import type { JsonResponse } from './http.ts';

/** A login service for pages in development, which accepts everybody with a proof of a captcha. */

export const LOG_IN_PATH = '/sandbox/log-in';

const { kty, crv, x, y } = SANDBOX_ATTESTATION_KEY;
const publicKey = { kty, crv, x, y };
const REFUSED = { status: 401, body: { problem: 'attestation: expected a proof for accounts and logIn that is new' } };

/** Verifies the `attestation` in a JSON body as a service does: 200 once for each proof, otherwise 401. */
export async function logIn(body: Buffer | undefined, used: LRUCache<string, true>): Promise<JsonResponse> {
  const { attestation } = propertiesOf(parseJson(body ?? ''));
  if (typeof attestation !== 'string') return REFUSED;
  const proof = await jwtVerify(attestation, publicKey, {
    algorithms: ['ES256'],
    typ: 'captcha-attestation+jwt',
    issuer: SANDBOX_ATTESTATION.issuer,
    audience: 'accounts',
    maxTokenAge: 240,
    clockTolerance: 5,
  }).catch(() => undefined);
  const { action, jti = '' } = proof?.payload ?? {};
  if (action !== 'logIn' || used.has(jti)) return REFUSED;
  used.set(jti, true);
  return { status: 200, body: {} };
}
