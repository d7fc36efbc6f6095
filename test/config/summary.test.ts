import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation.ts';
import { newSealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import { exposureOf, listenProblem, summaryOf } from '../../src/settings/summary.ts';
import type { Config } from '../../src/settings/variables.ts';
import { SLICES } from '../../src/slices.ts';
import { LIVE, parse, REST, SERVICE } from './support.ts';

/** What a start says of its configuration. */

const ROUTER = { ...REST, ROUTER_SECRETS: 'secret-of-the-router' };
const SERVICES = JSON.stringify([SERVICE]);
const SANDBOX = { UPSTREAM_MODE: 'sandbox' };
const summary = (config: Config) => summaryOf(config, SLICES);

test('the summary of a start names what is off in live mode, and what the sandbox has of its own', () => {
  expect(summary(parse(ROUTER))).toBe(
    'callers: router; scopes: not enforced; upstreams: fingerprint and captcha; sealing: off; policy: 189f53faf1c1, built-in; ' +
      'attestation: off; fail-open: faults, and one client can use up the budget; quotas: off',
  );
  expect(summary(parse(SANDBOX))).toMatch(/sealing: of the sandbox;.*attestation: of the sandbox;/);
  const quota = parse({ ...ROUTER, CAPTCHA_QUOTA: '{"perDay":9}' });
  expect(summary(quota)).toContain('quotas: captcha, each replica alone');
  const address = parse({ ...ROUTER, TRUSTED_HEADERS: '{"metadata":{"ipAddr":{"header":"x-client-ip"}}}' });
  expect(summary(address)).toMatch(/fail-open: faults, with a share for each network;/);
  expect(summary(parse({ ...ROUTER, CAPTCHA_FAIL_OPEN: 'never' }))).toMatch(/fail-open: never;/);
});

test('the summary of a start has everything that is on in one line', () => {
  const env = {
    ...ROUTER,
    SERVICES,
    TRUSTED_HEADERS: '{"subject":"x-user-id","scopes":"x-user-scopes","metadata":{"ipAddr":{"header":"x-client-ip"}}}',
    SEALING_KEYS: JSON.stringify([newSealingKey()]),
    ATTESTATION: '{"issuer":"https://device-trust.test","audiences":[{"id":"orders","actions":["placeOrder"]}]}',
    ATTESTATION_KEYS: JSON.stringify([generateKey('active')]),
    FINGERPRINT_QUOTA: '{"perSecond":9}',
    CAPTCHA_QUOTA: '{"perDay":9}',
    QUOTA_STORE_URL: 'redis://127.0.0.1',
    RISK_POLICY_FILE: '/policy',
  };
  const text = readFileSync('test/fixtures/policy-without-emulators.json', 'utf8');
  expect(summary(parse(env, { '/policy': text }))).toBe(
    'callers: router and orders; scopes: enforced by the header x-user-scopes; upstreams: fingerprint and captcha; ' +
      'sealing: on; policy: 33b6b47bf40d; attestation: for orders; fail-open: faults, with a share for each ' +
      'person and network; quotas: fingerprint and captcha, all replicas together',
  );
});

test.each<[string, Readonly<Record<string, string>>, string, RegExp | undefined]>([
  ['a router', ROUTER, 'not enforced', /^Everybody behind the router .* TRUSTED_HEADERS/],
  ['anybody', LIVE, 'not enforced', /^Anyone .* ROUTER_SECRETS/],
  [
    'a router whose people have scopes',
    { ...ROUTER, TRUSTED_HEADERS: '{"scopes":"x-s"}' },
    'enforced by the header x-s',
    undefined,
  ],
  ['a router and services', { ...ROUTER, SERVICES }, 'enforced, and none for requests of the router', undefined],
  ['services', { ...REST, SERVICES }, 'enforced', undefined],
  ['services alone', { ...REST, SERVICES, TRUSTED_HEADERS: '{"scopes":"x-s"}' }, 'enforced', undefined],
  ['a developer', SANDBOX, 'not enforced', undefined],
])('the summary of a start says who may read signals if %s may ask', (_who, env, scopes, warning) => {
  const config = parse(env);
  expect(summary(config)).toContain(`scopes: ${scopes};`);
  if (warning) expect(exposureOf(config, SLICES)).toMatch(warning);
  else expect(exposureOf(config, SLICES)).toBeUndefined();
});

describe('an address that cannot be listened on', () => {
  const [port, host] = [80, '127.0.0.1'];
  const sandbox = 'SANDBOX_PORT: expected three free ports from this one on, but 80 is taken.';
  test.each<[string, Parameters<typeof listenProblem>[1], string]>([
    ['EADDRINUSE', { host, port, adminPort: 2 }, 'PORT: expected a free port, but 80 is taken.'],
    ['EADDRINUSE', { host, port: 1, adminPort: port }, 'ADMIN_PORT: expected a free port, but 80 is taken.'],
    ['EADDRINUSE', { host, port: 1, adminPort: 2 }, sandbox],
    ['EADDRINUSE', {}, sandbox],
    ['EACCES', { host, port, adminPort: 2 }, 'PORT: expected a free port, but 80 needs a privilege.'],
    ['EMFILE', { host, port, adminPort: 2 }, 'PORT: expected a free port, but 80 fails with EMFILE.'],
  ])('a port is reported by its variable for %s at %j: %s', (code, address, sentence) => {
    expect(listenProblem({ code, syscall: 'listen', port }, address)).toBe(sentence);
    for (const other of [{ code, syscall: 'connect', port }, new Error(code), undefined])
      expect(listenProblem(other, address)).toBeUndefined();
  });

  // No host has a name under `.invalid` (RFC 6761, section 6.4).
  test.each(['192.0.2.1', 'no-host.invalid'])('HOST=%s, which is not of this machine, is reported', async (host) => {
    const error = await once(createServer().listen(4001, host), 'listening').catch((error: unknown) => error);
    expect(listenProblem(error, { host, port: 4001, adminPort: 2 })).toBe(
      `HOST: expected an address of this machine, but got "${host}".`,
    );
  });
});
