import { expect, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation.ts';
import { newSealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import { exposureOf, summaryOf } from '../../src/settings/summary.ts';
import type { Config } from '../../src/settings/variables.ts';
import { SLICES } from '../../src/slices.ts';
import { LIVE, parse, REST, SERVICE } from './support.ts';

/** What a start says of its configuration. */

const ROUTER = { ...REST, ROUTER_SECRETS: 'secret-of-the-router' };
const SERVICES = JSON.stringify([SERVICE]);
const SANDBOX = { UPSTREAM_MODE: 'sandbox' };
const summary = (config: Config) => summaryOf(config, SLICES, { policy: { id: 'id' } });

test('what is off in live mode, and what the sandbox has of its own', () => {
  expect(summary(parse(ROUTER))).toBe(
    'callers: router; scopes: not enforced; upstreams: fingerprint and captcha; sealing: off; policy: built-in; ' +
      'attestation: off; fail-open: faults, and one client can use up the budget; quotas: off',
  );
  expect(summary(parse(SANDBOX))).toMatch(/sealing: of the sandbox;.*attestation: of the sandbox;/);
  const quota = parse({ ...ROUTER, CAPTCHA_QUOTA: '{"perDay":9}' });
  expect(summary(quota)).toContain('quotas: captcha, each replica alone');
  const address = parse({ ...ROUTER, TRUSTED_HEADERS: '{"metadata":{"ipAddr":{"header":"x-client-ip"}}}' });
  expect(summary(address)).toMatch(/fail-open: faults, with a share for each network;/);
  expect(summary(parse({ ...ROUTER, CAPTCHA_FAIL_OPEN: 'never' }))).toMatch(/fail-open: never;/);
});

test('everything that is on is in one line', () => {
  const all = parse({
    ...ROUTER,
    SERVICES,
    TRUSTED_HEADERS: '{"subject":"x-user-id","scopes":"x-user-scopes","metadata":{"ipAddr":{"header":"x-client-ip"}}}',
    SEALING_KEYS: JSON.stringify([newSealingKey()]),
    ATTESTATION: '{"issuer":"https://device-trust.test","audiences":[{"id":"orders","actions":["placeOrder"]}]}',
    ATTESTATION_KEYS: JSON.stringify([generateKey('active')]),
    FINGERPRINT_QUOTA: '{"perSecond":9}',
    CAPTCHA_QUOTA: '{"perDay":9}',
    QUOTA_STORE_URL: 'redis://127.0.0.1',
    RISK_POLICY_FILE: '/policy.json',
  });
  expect(summary(all)).toBe(
    'callers: router and orders; scopes: enforced by the header x-user-scopes; upstreams: fingerprint and captcha; ' +
      'sealing: on; policy: id in /policy.json; attestation: for orders; fail-open: faults, with a share for each ' +
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
])('who may read signals if %s may ask', (_who, env, scopes, warning) => {
  const config = parse(env);
  expect(summary(config)).toContain(`scopes: ${scopes};`);
  if (warning) expect(exposureOf(config, SLICES)).toMatch(warning);
  else expect(exposureOf(config, SLICES)).toBeUndefined();
});
