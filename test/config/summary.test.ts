import { expect, test } from 'vitest';
import { removedIn } from '../../src/config/removed.ts';
import { exposureOf, summaryOf } from '../../src/config/summary.ts';
import { LIVE, parse, problemsOf, SERVICE } from './support.ts';

/** What a start says of its configuration. `test/process/upgrade.test.ts` has the line with everything on. */

const { ALLOW_DIRECT_ACCESS: _, ...REST } = LIVE;
const ROUTER = { ...REST, ROUTER_SECRETS: 'secret-of-the-router' };
const SERVICES = JSON.stringify([SERVICE]);
const SANDBOX = { UPSTREAM_MODE: 'sandbox' };

test('what is off in live mode, and what the sandbox has of its own', () => {
  expect(summaryOf(parse(ROUTER), 'id')).toBe(
    'callers: router; scopes: not enforced; sealing: off; attestation: off; quotas: off; policy: built-in; ' +
      'fail-open: faults, and a single flood can take all that may proceed',
  );
  expect(summaryOf(parse(SANDBOX), 'id')).toContain('sealing: of the sandbox; attestation: of the sandbox;');
  const quota = parse({ ...ROUTER, CAPTCHA_QUOTA: '{"perDay":9}' });
  expect(summaryOf(quota, 'id')).toContain('quotas: captcha, each replica alone;');
  const address = parse({ ...ROUTER, TRUSTED_HEADERS: '{"metadata":{"ipAddr":{"header":"x-client-ip"}}}' });
  const others = 'and for all others together twice what others passed';
  expect(summaryOf(address, 'id')).toContain(`fail-open: faults, twelve a minute for each network, ${others}`);
  const both = parse({
    ...ROUTER,
    TRUSTED_HEADERS: '{"subject":"x-user-id","metadata":{"ipAddrV4":{"header":"x-client-ip"}}}',
  });
  const shares = `three a minute for each person, twelve a minute for each network without a person, ${others}`;
  expect(summaryOf(both, 'id')).toContain(`fail-open: faults, ${shares}`);
  expect(summaryOf(parse({ ...ROUTER, CAPTCHA_FAIL_OPEN: 'never' }), 'id')).toMatch(/fail-open: never$/);
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
  ['a router and services', { ...ROUTER, SERVICES }, 'enforced, and nobody behind the router has one', undefined],
  ['services', { ...REST, SERVICES }, 'enforced', undefined],
  ['a developer', SANDBOX, 'not enforced', undefined],
])('who may read signals if %s may ask', (_who, env, scopes, warning) => {
  const config = parse(env);
  expect(summaryOf(config, 'id')).toContain(`scopes: ${scopes};`);
  if (warning) expect(exposureOf(config)).toMatch(warning);
  else expect(exposureOf(config)).toBeUndefined();
});

test('what is gone is named only if it has a value, also as a file, and stops nothing', () => {
  const env = { ...ROUTER, MAX_TOKENS: '', MAX_DEPTH: 'x', UPSTREAM_MAX_QUEUE_FILE: '/q' };
  expect(problemsOf(env)).toEqual([]);
  expect(removedIn(env)).toEqual([
    'MAX_DEPTH has no effect any more: the tokens of a document, its cost and the size of its answer bound it.',
    'UPSTREAM_MAX_QUEUE_FILE has no effect any more: as many calls wait as UPSTREAM_MAX_IN_FLIGHT allows under way.',
  ]);
});
