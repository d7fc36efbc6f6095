import { afterAll, expect, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation-keys.ts';
import { startInSandboxMode } from '../support/app.ts';
import { json, request } from '../support/requests.ts';

/** The keys of attestations, as a verifier gets them over HTTP (design, section 8). */

const JWKS = '/.well-known/jwks.json';
const active = generateKey('active');
const next = generateKey('next');
const retired = generateKey('retired');
const app = await startInSandboxMode({
  attestation: {
    issuer: 'https://device-trust.sandbox',
    lifetimeSeconds: 60,
    unverifiedPerMinute: 3,
    audiences: [{ id: 'orders', actions: ['placeOrder'], subject: 'optional' }],
  },
  attestationKeys: [active, next, retired],
  routerSecrets: ['the-secret-of-the-router'],
});
afterAll(() => app.stop());

test('the keys are published without a secret: the public parts of all of them', async () => {
  const { status, headers, text } = await request(app.url + JWKS);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/jwk-set+json');
  expect(headers.get('cache-control')).toBe('max-age=300');
  // Like the connection of a probe, that of a verifier is kept for a short time.
  expect(headers.get('keep-alive')).toBe('timeout=5');
  expect(JSON.parse(text)).toEqual({
    keys: [active, next, retired].map(({ kid, x, y }) => ({
      kty: 'EC',
      crv: 'P-256',
      x,
      y,
      kid,
      alg: 'ES256',
      use: 'sig',
    })),
  });
  for (const { d } of [active, next, retired]) expect(text).not.toContain(d);
});

test('the keys have no body for HEAD, and take no other method', async () => {
  const head = await request(app.url + JWKS, { method: 'HEAD' });
  expect([head.status, head.headers.get('cache-control'), head.text]).toEqual([200, 'max-age=300', '']);
  for (const init of [json('{}'), { method: 'PUT' }, { method: 'DELETE' }]) {
    const { status, headers } = await request(app.url + JWKS, init);
    expect([status, headers.get('allow'), headers.get('cache-control')]).toEqual([405, 'GET, HEAD', 'no-store']);
  }
});

test('the private parts are nowhere in the log', () => {
  for (const { d } of [active, next, retired]) expect(app.logged()).not.toContain(d);
});
