import { importJWK, SignJWT } from 'jose';
import { afterAll, expect, test } from 'vitest';
import { SANDBOX_ATTESTATION_KEY } from '../../src/captcha/settings.ts';
import { startInSandboxMode } from '../support/app.ts';
import { solveChallenge } from '../support/challenges.ts';
import { ask, json, request } from '../support/requests.ts';

/** The login of the sandbox, for pages in development: it takes a proof for itself, once. */

const app = await startInSandboxMode();
afterAll(app.stop);
const url = `${app.sandboxUrls?.GLB}/sandbox/log-in`;

const QUERY = 'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { attestation } }';
/** A proof for this audience and action. */
async function prove(purpose: { audience: string; action: string }): Promise<string> {
  const input = { ...(await solveChallenge(String(app.sandboxUrls?.GLB))), ...purpose };
  return (await ask(app.graphqlUrl, QUERY, { input })).data.validateCaptcha.attestation;
}
const statusOf = async (attestation: unknown) => (await request(url, json(JSON.stringify({ attestation })))).status;

test('the login of the sandbox accepts a proof once, and no other', async () => {
  const proof = await prove({ audience: 'accounts', action: 'logIn' });
  expect([await statusOf(proof), await statusOf(proof)]).toEqual([200, 401]);
  const [header, payload, signature = ''] = (await prove({ audience: 'accounts', action: 'logIn' })).split('.');
  const forged = [header, payload, signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))].join('.');
  const others = [await prove({ audience: 'orders', action: 'placeOrder' }), forged, '', null, 7];
  for (const other of others) expect(await statusOf(other)).toBe(401);
});

test('the login of the sandbox refuses a token with the right signature but another claim or type', async () => {
  const { kid, state: _, ...jwk } = SANDBOX_ATTESTATION_KEY;
  const key = await importJWK(jwk, 'ES256');
  const now = Math.floor(Date.now() / 1_000);
  const right = { iss: 'https://device-trust.sandbox', aud: 'accounts', action: 'logIn', iat: now, exp: now + 120 };
  const statusWith = async (claims: object, typ = 'captcha-attestation+jwt', jti = `${Math.random()}`) => {
    const token = new SignJWT({ ...right, jti, ...claims }).setProtectedHeader({ alg: 'ES256', kid, typ });
    return statusOf(await token.sign(key));
  };
  expect(await statusWith({})).toBe(200);
  const changes = [
    { iss: 'https://other.test' },
    { aud: 'orders' },
    { action: 'placeOrder' },
    { iat: now - 300 },
    { exp: now - 60 },
  ];
  for (const claims of changes) expect([claims, await statusWith(claims)]).toEqual([claims, 401]);
  expect(await statusWith({}, 'JWT')).toBe(401);
});
