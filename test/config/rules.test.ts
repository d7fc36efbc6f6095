import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenProblem } from '../../src/settings/summary.ts';
import { listen } from '../support/loopback.ts';
import { ROOT } from '../support/process.ts';
import {
  APPLICATION,
  CANARY,
  CAPTCHA,
  CAPTCHAS_ONLY,
  DEVICES,
  LIVE,
  parse,
  problemsOf,
  REST,
  SERVICE,
} from './support.ts';

/** What each rule that spans several variables refuses, and what it accepts; and that live mode refuses the documentation's placeholders. */

const APPLICATIONS_EXPECTED =
  'FINGERPRINT_APPLICATIONS: expected a JSON list of {"publicKey", "secret", "region"}, region GLB, NA or EU, with different public keys, but got ';
const CAPTCHAS_EXPECTED =
  'CAPTCHA_CONFIGURATIONS: expected a JSON list of {"captchaId", "captchaKey", "region"}, region GLB, NA or EU, with different captcha ids of 32 characters, but got ';

describe('live mode needs one service', () => {
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
      { ...DIRECT, ...CAPTCHAS_ONLY, RISK_POLICY_FILE: '/policy.json' },
      half(APPLICATIONS_EXPECTED, 'RISK_POLICY_FILE'),
    ],
  ])('%s', (_what, env, problems) => expect(problemsOf(env)).toEqual(problems));
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

describe('live mode needs exactly one answer to who may ask', () => {
  test.each<[string, Readonly<Record<string, string>>]>([
    ['neither', REST],
    ['neither', { ...REST, ALLOW_DIRECT_ACCESS: 'false' }],
    ['both', { ...LIVE, ROUTER_SECRETS }],
    ['both', { ...LIVE, SERVICES }],
  ])('%s is refused: %#', (got, env) => {
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
  ])('%s alone are enough', (_what, env) => {
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

describe('what the documentation shows in place of values of your own', () => {
  const SECRET = 'change-me-to-a-long-random-text';
  const refusal = (name: string, own: string) =>
    `${name}: expected ${own}, but got a placeholder from the documentation.`;
  const application = (changes: object) =>
    JSON.stringify([APPLICATION, { ...APPLICATION, publicKey: 'pk_2', ...changes }]);
  const captcha = (changes: object) => JSON.stringify([{ ...CAPTCHA, ...changes }]);

  describe('a placeholder in live mode', () => {
    const [APPLICATIONS, CAPTCHAS] = ['FINGERPRINT_APPLICATIONS', 'CAPTCHA_CONFIGURATIONS'] as const;
    test.each<[string, string, string, object?]>([
      ['ROUTER_SECRETS', 'a secret of your own', SECRET, REST],
      ['ROUTER_SECRETS', 'a value of your own at 1', `secret-of-the-router,${SECRET}`, REST],
      ['LOG_HASH_KEY', 'a secret of your own', SECRET],
      ...['change-me', 'CHANGE_ME', '<secret>'].map((secret): [string, string, string] => [
        APPLICATIONS,
        'a value of your own at 1.secret',
        application({ secret }),
      ]),
      [APPLICATIONS, 'a value of your own at 1.publicKey', application({ publicKey: 'change-me-public-key' })],
      [CAPTCHAS, 'a value of your own at 0.captchaKey', captcha({ captchaKey: 'change-me' })],
      [CAPTCHAS, 'a value of your own at 0.captchaId', captcha({ captchaId: 'change-me-to-your-own-captcha-id' })],
      ['FINGERPRINT_URL_GLB', 'an address of your own', 'https://fingerprint.example'],
      ['OTEL_EXPORTER_OTLP_ENDPOINT', 'an address of your own', 'http://collector.example:4318'],
      [
        'QUOTA_STORE_URL',
        'an address of your own',
        'redis://store.example',
        { ...LIVE, CAPTCHA_QUOTA: '{"perDay":1}' },
      ],
    ])('%s: expected %s, but got %s', (name, own, text, env = LIVE) => {
      expect(problemsOf({ ...env, [name]: text })).toEqual([refusal(name, own)]);
    });

    test('a public key or a captcha id is refused as a secret', () => {
      const env = {
        ...LIVE,
        FINGERPRINT_APPLICATIONS: application({ secret: 'pk_shop' }),
        CAPTCHA_CONFIGURATIONS: captcha({ captchaKey: CAPTCHA.captchaId }),
      };
      expect(problemsOf(env)).toEqual([
        'FINGERPRINT_APPLICATIONS: expected no public key as a secret, but got one at 1.secret.',
        'CAPTCHA_CONFIGURATIONS: expected no captcha id as a key, but got one at 0.captchaKey.',
      ]);
      const next = (nextCaptchaKey: string) =>
        problemsOf({ ...LIVE, CAPTCHA_CONFIGURATIONS: captcha({ nextCaptchaKey }) });
      expect([...next(CAPTCHA.captchaId), ...next(CAPTCHA.captchaKey)]).toEqual([
        'CAPTCHA_CONFIGURATIONS: expected no captcha id as a key, but got one at 0.nextCaptchaKey.',
        'CAPTCHA_CONFIGURATIONS: expected two different keys, but got the same at 0.nextCaptchaKey.',
      ]);
    });

    test('a placeholder in live mode is named by its place, in which a key that may be a secret is not shown', () => {
      const keys = (key: string) => JSON.stringify([{ [key]: 'change-me' }]);
      const refused = (place: string) => refusal('FINGERPRINT_APPLICATIONS', `a value of your own at ${place}`);
      const lastProblem = (text: string) => problemsOf({ ...LIVE, FINGERPRINT_APPLICATIONS: text }).at(-1);
      expect(lastProblem(keys('secrets'))).toBe(refused('0.secrets'));
      for (const key of ['sk_4f1c9a', 'a-very-long-secret-of-letters', '4711'])
        expect(lastProblem(keys(key))).toBe(refused('0.(unknown key)'));
    });

    test('a placeholder in live mode is found beside other mistakes in the same value', () => {
      const text = application({ secret: 'change-me', region: 'MARS' });
      expect(problemsOf({ ...LIVE, FINGERPRINT_APPLICATIONS: text })).toEqual([
        expect.stringContaining('(1.region: expected GLB, NA or EU)'),
        refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 1.secret'),
      ]);
    });
  });

  describe('a secret for a try', () => {
    const LOCAL = { FINGERPRINT_URL_GLB: 'http://127.0.0.1:4100', CAPTCHA_URL_GLB: 'http://localhost:4100' };
    const ROUTER_SECRETS = 'a-secret-to-try-it-out';
    const SERVICES = '[{"name":"orders","secret":"a-secret-of-orders","scopes":["risk:read"]}]';
    const [secret, captchaKey] = ['sk_sandbox_glb', 'key_sandbox_glb'];
    const TRIAL = {
      FINGERPRINT_APPLICATIONS: JSON.stringify([{ ...APPLICATION, secret }]),
      CAPTCHA_CONFIGURATIONS: captcha({ captchaKey }),
    };
    const ANYWHERE = { HOST: '0.0.0.0' };

    test.each<[string, Readonly<Record<string, string>>, string[]]>([
      ['is accepted on this machine', { ...REST, ...LOCAL, ...TRIAL, ROUTER_SECRETS, SERVICES }, []],
      ['is accepted on any port before the sandbox', { ...REST, ...LOCAL, ...TRIAL, ...ANYWHERE, ROUTER_SECRETS }, []],
      ['is refused for a real service', { ...REST, ROUTER_SECRETS, SERVICES }, ['ROUTER_SECRETS', 'SERVICES']],
      [
        'is refused on another port for real accounts',
        { ...REST, ...LOCAL, ...ANYWHERE, ROUTER_SECRETS },
        ['ROUTER_SECRETS'],
      ],
      ['is refused at a real service', { ...LIVE, ...TRIAL }, ['FINGERPRINT_APPLICATIONS', 'CAPTCHA_CONFIGURATIONS']],
      [
        'is refused for one service alone',
        { ...LIVE, ...TRIAL, CAPTCHA_URL_GLB: LOCAL.CAPTCHA_URL_GLB },
        ['FINGERPRINT_APPLICATIONS'],
      ],
    ])('%s', (_what, env, names) => {
      expect(problemsOf(env).map((problem) => problem.split(':', 1).join())).toEqual(names);
    });

    test('each secret that a page or a file shows is refused as a placeholder', () => {
      const pages = ['README.md', 'deploy/README.md', 'deploy/compose.yaml'];
      const text = pages.map((path) => readFileSync(join(ROOT, path), 'utf8')).join();
      const shown = [
        ...[...text.matchAll(/ROUTER_SECRETS[=:] ?([\w-]+)$/gm)].map(([, one = '']) => ({
          ...REST,
          ROUTER_SECRETS: one,
        })),
        ...[...text.matchAll(/^export SERVICES='(.*)'$/gm)].map(([, one = '']) => ({ ...REST, SERVICES: one })),
        ...[...text.matchAll(/FINGERPRINT_APPLICATIONS[=:] ?'(.*)'$/gm)].map(([, one = '']) => ({
          ...LIVE,
          FINGERPRINT_APPLICATIONS: one,
          FINGERPRINT_URL_EU: 'https://fp.test',
        })),
        ...[...text.matchAll(/CAPTCHA_CONFIGURATIONS[=:] ?'(.*)'$/gm)].map(([, one = '']) => ({
          ...LIVE,
          CAPTCHA_CONFIGURATIONS: one,
          CAPTCHA_URL_EU: 'https://captcha.test',
        })),
      ];
      expect(shown.length).toBeGreaterThan(9);
      for (const env of shown)
        expect(problemsOf(env).join(), JSON.stringify(env)).toContain('placeholder from the documentation');
    });
  });

  describe('what is no placeholder', () => {
    test.each([
      ['FINGERPRINT_URL_GLB', 'https://example.fingerprint.test'],
      ['LOG_HASH_KEY', 'never-change-me-at-all'],
      ['FINGERPRINT_APPLICATIONS', application({ publicKey: 'pk_10', secret: 'sk_12' })],
    ])('%s=%s is accepted', (name, text) => {
      expect(problemsOf({ ...LIVE, [name]: text })).toEqual([]);
    });

    test('the sandbox accepts placeholders, because it keeps nothing that is worth a secret', () => {
      expect(problemsOf({ UPSTREAM_MODE: 'sandbox', ROUTER_SECRETS: SECRET })).toEqual([]);
    });
  });
});

describe('an address that cannot be listened on', () => {
  async function errorOf(port: number, host = '127.0.0.1'): Promise<unknown> {
    return once(createServer().listen(port, host), 'listening').catch((error: unknown) => error);
  }

  test('a port that is taken is reported by its variable', async () => {
    const server = createServer();
    const taken = await listen(server);
    onTestFinished(() => void server.close());
    const error = await errorOf(taken);
    const others = { host: '127.0.0.1', port: 1, adminPort: 2 };
    const isTaken = `expected a free port, but ${taken} is taken.`;
    expect(listenProblem(error, { ...others, port: taken })).toBe(`PORT: ${isTaken}`);
    expect(listenProblem(error, { ...others, adminPort: taken })).toBe(`ADMIN_PORT: ${isTaken}`);
    const ofSandbox = `SANDBOX_PORT: expected three free ports from this one on, but ${taken} is taken.`;
    expect(listenProblem(error, others)).toBe(ofSandbox);
    expect(listenProblem(error, {})).toBe(ofSandbox);
  });

  // No host has a name under `.invalid` (RFC 6761, section 6.4).
  test.each(['192.0.2.1', 'no-host.invalid'])('HOST=%s, which is not of this machine, is reported', async (host) => {
    expect(listenProblem(await errorOf(4001, host), { host, port: 4001, adminPort: 2 })).toBe(
      `HOST: expected an address of this machine, but got "${host}".`,
    );
  });

  test('a port that needs a privilege, what the system says for other reasons, and errors that are about no address', () => {
    const address = { host: '127.0.0.1', port: 80, adminPort: 2 };
    const error = (code: string, syscall = 'listen') => Object.assign(new Error(code), { code, syscall, port: 80 });
    expect(listenProblem(error('EACCES'), address)).toBe('PORT: expected a free port, but 80 needs a privilege.');
    expect(listenProblem(error('EMFILE'), address)).toBe('PORT: expected a free port, but 80 fails with EMFILE.');
    for (const other of [error('EADDRNOTAVAIL', 'connect'), new Error('another'), undefined])
      expect(listenProblem(other, address)).toBeUndefined();
  });
});
