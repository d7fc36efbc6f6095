import { describe, expect, test } from 'vitest';
import defaultPolicy from '../../src/fingerprint/default-policy.json' with { type: 'json' };
import { parseConfig } from '../../src/settings/variables.ts';
import { SLICES } from '../../src/slices.ts';
import {
  APPLICATION,
  CANARY,
  CAPTCHA,
  CAPTCHAS_ONLY,
  DEVICES,
  LIVE,
  parse,
  problemsIn,
  problemsOf,
  REST,
  SERVICE,
} from './support.ts';

/** What each rule that spans several variables refuses, and what it accepts. */

const APPLICATIONS_EXPECTED =
  'FINGERPRINT_APPLICATIONS: expected a JSON list of {"publicKey", "secret", "region"}, region GLB, NA or EU, with different public keys, but got ';
const CAPTCHAS_EXPECTED =
  'CAPTCHA_CONFIGURATIONS: expected a JSON list of {"captchaId", "captchaKey", "region"}, region GLB, NA or EU, with different captcha ids of 32 characters, but got ';

describe('a service with its accounts', () => {
  const { FINGERPRINT_APPLICATIONS: _, CAPTCHA_CONFIGURATIONS: __, ...addresses } = LIVE;
  const DIRECT = { ALLOW_DIRECT_ACCESS: 'true' };
  const NOTHING = [
    'FINGERPRINT_APPLICATIONS: expected it or CAPTCHA_CONFIGURATIONS, but got neither (npm run dev needs no variables).',
  ];
  const half = (expected: string, given: string) => [`${expected}nothing, although ${given} is set.`];

  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['nothing', DIRECT, NOTHING],
    ['nothing of a service', { ...DIRECT, UPSTREAM_CHECK: 'all', LOG_SAMPLE: '0.5' }, NOTHING],
    [
      'addresses without accounts',
      addresses,
      [...half(APPLICATIONS_EXPECTED, 'FINGERPRINT_URL_GLB'), ...half(CAPTCHAS_EXPECTED, 'CAPTCHA_URL_GLB')],
    ],
    ['devices alone', { ...DIRECT, ...DEVICES }, []],
    ['captchas alone', { ...DIRECT, ...CAPTCHAS_ONLY }, []],
    [
      'a quota without an account',
      { ...DIRECT, ...DEVICES, CAPTCHA_QUOTA: '{"perDay":9}' },
      half(CAPTCHAS_EXPECTED, 'CAPTCHA_QUOTA'),
    ],
    [
      'a policy without devices',
      { ...DIRECT, ...CAPTCHAS_ONLY, RISK_POLICY_FILE: '/policy' },
      half(APPLICATIONS_EXPECTED, 'RISK_POLICY_FILE'),
    ],
  ])('live mode with %s says which service is complete, and what the other one lacks', (_what, env, problems) =>
    expect(problemsOf(env, { '/policy': JSON.stringify(defaultPolicy) })).toEqual(problems),
  );
});

test.each([
  ['FINGERPRINT_URL_GLB', 'https://fp.test/api/v2/fp_query/pk_shop', '/api/v2/fp_query'],
  ['FINGERPRINT_URL_NA', 'https://fp.test/api/v2/fp_query', '/api/v2/fp_query'],
  ['CAPTCHA_URL_GLB', 'https://captcha.test/validate', '/validate'],
])('%s=%s is refused, because its path is added to it', (name, url, path) => {
  expect(problemsOf({ ...LIVE, [name]: url })).toEqual([
    `${name}: expected an address without ${path}, which is added to it, but got one with it.`,
  ]);
});

const ROUTER_SECRETS = 'secret-of-the-router';
const SERVICES = JSON.stringify([SERVICE]);

describe('who may ask', () => {
  const { ALLOW_DIRECT_ACCESS: _, ...known } = { ...LIVE, ROUTER_SECRETS };
  const LIMIT = '{"perMinuteOfPerson":30}';
  const UNNAMED = ['TRUSTED_HEADERS: expected a person or an address for perMinuteOfPerson, but got neither.'];

  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['nobody', {}, UNNAMED],
    ['no requester', { TRUSTED_HEADERS: '{"scopes":"x-scopes","metadata":{"userAgent":{"header":"x-ua"}}}' }, UNNAMED],
    ['a person', { TRUSTED_HEADERS: '{"subject":"x-user-id"}' }, []],
    ['an address', { TRUSTED_HEADERS: '{"metadata":{"ipAddr":{"header":"x-client-ip"}}}' }, []],
  ])('a limit of a person with headers that name %s', (_who, headers, problems) => {
    expect(problemsOf({ ...known, ...headers, FINGERPRINT_QUOTA: LIMIT })).toEqual(problems);
    const services = JSON.stringify([{ ...SERVICE, quota: JSON.parse(LIMIT) }]);
    expect(problemsOf({ ...known, ...headers, SERVICES: services })).toEqual(problems);
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['neither', REST],
    ['neither', { ...REST, ALLOW_DIRECT_ACCESS: 'false' }],
    ['both', { ...LIVE, ROUTER_SECRETS }],
    ['both', { ...LIVE, SERVICES }],
  ])('live mode with %s of router secrets and direct access is refused: %#', (got, env) => {
    expect(problemsOf(env)).toEqual([
      `ROUTER_SECRETS: expected either secrets here or in SERVICES, or ALLOW_DIRECT_ACCESS=true, but got ${got}.`,
    ]);
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['router secrets', { ...REST, ROUTER_SECRETS }],
    ['services', { ...REST, SERVICES }],
    ['both of these', { ...REST, SERVICES, ROUTER_SECRETS }],
    ['in the sandbox, router secrets', { UPSTREAM_MODE: 'sandbox', ROUTER_SECRETS }],
    ['in the sandbox, nothing', { UPSTREAM_MODE: 'sandbox' }],
  ])('live mode has an answer to who may ask with %s', (_what, env) => {
    expect(problemsOf(env)).toEqual([]);
  });
});

test('the router and a service cannot have the same secret, also in the sandbox', () => {
  const secret = `${CANARY}-of-both`;
  const services = [SERVICE, { ...SERVICE, name: 'payments', secret }];
  const env = { ROUTER_SECRETS: `${ROUTER_SECRETS},${secret}`, SERVICES: JSON.stringify(services) };
  expect(problemsOf({ UPSTREAM_MODE: 'sandbox', ...env })).toEqual([
    'SERVICES: expected no secret of ROUTER_SECRETS, but got one at 1.secret.',
  ]);
});

test('trusted headers need somebody who is trusted, but not in the sandbox', () => {
  const TRUSTED_HEADERS = '{"subject":"x-user-id"}';
  expect(problemsOf({ ...LIVE, TRUSTED_HEADERS })).toEqual([
    'TRUSTED_HEADERS: expected ROUTER_SECRETS or SERVICES as well, but got neither.',
  ]);
  for (const env of [{ ...REST, ROUTER_SECRETS }, { ...REST, SERVICES }, { UPSTREAM_MODE: 'sandbox' }])
    expect(problemsOf({ ...env, TRUSTED_HEADERS })).toEqual([]);
});

test('captchas alone refuse trusted headers that only devices have, but not the address, which tells requesters apart', () => {
  const alone = (...keys: string[]) => {
    const metadata = Object.fromEntries(keys.map((key) => [key, { header: `x-${key}` }]));
    return { ...CAPTCHAS_ONLY, ROUTER_SECRETS, TRUSTED_HEADERS: JSON.stringify({ subject: 'x-user-id', metadata }) };
  };
  const sentences = (...keys: string[]) =>
    keys.map(
      (key) =>
        `TRUSTED_HEADERS: expected no metadata but an IP address with the service captcha alone, but got ${key}.`,
    );
  expect(problemsOf(alone('ipAddr', 'ja4'))).toEqual(sentences('ja4'));
  expect(problemsOf(alone('userAgent', 'accountId'))).toEqual(sentences('accountId', 'userAgent'));
  for (const keys of [['ipAddr'], ['ipAddrV4', 'ipAddrV6']]) expect(problemsOf(alone(...keys))).toEqual([]);
  expect(problemsOf({ ...alone('ja4'), ...DEVICES })).toEqual([]);
  const { CAPTCHA_CONFIGURATIONS: _, CAPTCHA_URL_GLB: __, ...sandbox } = { ...alone('ja4'), UPSTREAM_MODE: 'sandbox' };
  expect(problemsOf(sandbox)).toEqual([]);
  const chosen = SLICES.filter(({ name }) => name === 'captcha');
  expect(problemsIn(() => parseConfig(sandbox, () => '', SLICES, chosen))).toEqual(sentences('ja4'));
});

describe('each region in use needs an address', () => {
  const second = (one: object, id: object) => [one, { ...one, ...id, region: 'NA' }];
  test.each([
    ['FINGERPRINT_APPLICATIONS', 'FINGERPRINT_URL_NA', second(APPLICATION, { publicKey: 'pk_2' })],
    ['CAPTCHA_CONFIGURATIONS', 'CAPTCHA_URL_NA', second(CAPTCHA, { captchaId: 'b'.repeat(32) })],
  ])('a region of %s needs its %s', (list, address, rows) => {
    const env = { ...LIVE, [list]: JSON.stringify(rows) };
    expect(problemsOf(env)).toEqual([
      `${address}: expected an https address without user, query or fragment; plain http only to this machine, but got nothing, although region NA is in use.`,
    ]);
    expect(problemsOf({ ...env, [address]: 'https://there.test' })).toEqual([]);
  });

  test('a missing address of a region that several entries need is reported once', () => {
    const rows = ['1', '2', '3'].map((publicKey) => ({ ...APPLICATION, publicKey, region: 'NA' }));
    expect(problemsOf({ ...LIVE, FINGERPRINT_APPLICATIONS: JSON.stringify(rows) })).toHaveLength(1);
  });

  test('a wrong address of a region is reported as wrong, and not as missing too', () => {
    expect(problemsOf({ ...LIVE, FINGERPRINT_URL_GLB: 'ftp://fp.test' })).toHaveLength(1);
  });
});

test.each(
  ['FINGERPRINT_APPLICATIONS', 'CAPTCHA_CONFIGURATIONS', 'ATTESTATION_KEYS', 'SEALING_KEYS'].flatMap((name) => [
    [name, name],
    [`${name}_FILE`, name],
  ]),
)('the sandbox does not start with %s', (set = '', name) => {
  const problems = problemsOf({ UPSTREAM_MODE: 'sandbox', [set]: CANARY });
  // There is another sentence about the value itself.
  expect(problems).toContain(`${name}: expected no value with UPSTREAM_MODE=sandbox, but got one.`);
  expect(problems.join()).not.toContain(CANARY);
});

test('the two ports have to differ, also from each other’s default, unless the system picks both', () => {
  const sentence = (port: number) => `ADMIN_PORT: expected another port than PORT, but got ${port} for both.`;
  expect(problemsOf({ ...LIVE, PORT: '5000', ADMIN_PORT: '5000' })).toEqual([sentence(5000)]);
  expect(problemsOf({ ...LIVE, PORT: '9464' })).toEqual([sentence(9464)]);
  expect(problemsOf({ ...LIVE, PORT: '0', ADMIN_PORT: '0' })).toEqual([]);
  // Two that are no ports have a sentence each, and no third one.
  expect(problemsOf({ ...LIVE, PORT: 'a', ADMIN_PORT: 'a' })).toHaveLength(2);
});

describe('a store of quotas', () => {
  test('a store of quotas needs a quota to count', () => {
    expect(problemsOf({ ...LIVE, QUOTA_STORE_URL: 'redis://store.test' })).toEqual([
      'QUOTA_STORE_URL: expected FINGERPRINT_QUOTA or CAPTCHA_QUOTA as well, but got neither.',
    ]);
  });

  test.each([
    'redis://store.test',
    'redis://store.test:6379/0',
    'rediss://user:password@store.test:6380/15',
    'redis://:password@10.0.0.1',
  ])('a store of quotas can be at %s', (quotaStoreUrl) => {
    const env = { ...LIVE, CAPTCHA_QUOTA: '{"perDay":1}', QUOTA_STORE_URL: quotaStoreUrl };
    expect(parse(env)).toMatchObject({ quotaStoreUrl });
  });

  test.each([`http://:${CANARY}@store.test`, CANARY, `redis://`, `redis://store.test/0?password=${CANARY}`])(
    'a store of quotas cannot be at %s, which is not shown',
    (text) => {
      const [problem = '', ...others] = problemsOf({ ...LIVE, CAPTCHA_QUOTA: '{"perDay":1}', QUOTA_STORE_URL: text });
      expect(others).toEqual([]);
      expect(problem).toMatch(/^QUOTA_STORE_URL: expected a redis:\/\/ or rediss:\/\/ address/);
      expect(problem).not.toContain(CANARY);
    },
  );
});
