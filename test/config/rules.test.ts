import { describe, expect, test } from 'vitest';
import { APPLICATION, CANARY, CAPTCHA, LIVE, parse, problemsOf, SERVICE } from './support.ts';

/** What each rule that spans several variables refuses, and what it accepts; and that live mode refuses the documentation's placeholders. */

const APPLICATIONS_EXPECTED =
  'FINGERPRINT_APPLICATIONS: expected a JSON list of {"publicKey", "secret", "region"}, region GLB, NA or EU, with different public keys, but got ';
const CAPTCHAS_EXPECTED =
  'CAPTCHA_CONFIGURATIONS: expected a JSON list of {"captchaId", "captchaKey", "region"}, region GLB, NA or EU, with different captcha ids of 32 characters, but got ';

describe('live mode needs both lists', () => {
  test('and reports each that is missing', () => {
    expect(problemsOf({ ALLOW_DIRECT_ACCESS: 'true' })).toEqual([
      `${APPLICATIONS_EXPECTED}nothing.`,
      `${CAPTCHAS_EXPECTED}nothing.`,
    ]);
  });

  test('also where it has addresses', () => {
    const { FINGERPRINT_APPLICATIONS: _, CAPTCHA_CONFIGURATIONS: __, ...addresses } = LIVE;
    expect(problemsOf(addresses)).toHaveLength(2);
  });
});

describe('live mode needs exactly one answer to who may ask', () => {
  const { ALLOW_DIRECT_ACCESS: _, ...rest } = LIVE;
  const sentence = (got: string) =>
    `ROUTER_SECRETS: expected either secrets here or in SERVICES, or ALLOW_DIRECT_ACCESS=true, but got ${got}.`;

  test('neither is refused', () => {
    expect(problemsOf(rest)).toEqual([sentence('neither')]);
    expect(problemsOf({ ...rest, ALLOW_DIRECT_ACCESS: 'false' })).toEqual([sentence('neither')]);
  });

  test('both are refused', () => {
    expect(problemsOf({ ...LIVE, ROUTER_SECRETS: 'secret-of-the-router' })).toEqual([sentence('both')]);
    expect(problemsOf({ ...LIVE, ROUTER_SECRETS_FILE: '/s' }, { '/s': 'secret-of-the-router' })).toEqual([
      sentence('both'),
    ]);
  });

  test('router secrets alone are enough, from a file as well', () => {
    expect(problemsOf({ ...rest, ROUTER_SECRETS: 'secret-of-the-router' })).toEqual([]);
    expect(problemsOf({ ...rest, ROUTER_SECRETS_FILE: '/s' }, { '/s': 'secret-of-the-router\n' })).toEqual([]);
  });

  test('services alone are enough, and not beside direct access', () => {
    const SERVICES = JSON.stringify([SERVICE]);
    expect(problemsOf({ ...rest, SERVICES })).toEqual([]);
    expect(problemsOf({ ...rest, SERVICES_FILE: '/s' }, { '/s': SERVICES })).toEqual([]);
    expect(problemsOf({ ...rest, SERVICES, ROUTER_SECRETS: 'secret-of-the-router' })).toEqual([]);
    expect(problemsOf({ ...LIVE, SERVICES })).toEqual([sentence('both')]);
  });

  test('the sandbox may ask for a router secret, and need not', () => {
    const withSecret = parse({ UPSTREAM_MODE: 'sandbox', ROUTER_SECRETS: 'secret-of-the-router' });
    expect(withSecret.routerSecrets).toEqual(['secret-of-the-router']);
    expect(problemsOf({ UPSTREAM_MODE: 'sandbox' })).toEqual([]);
  });
});

describe('the router and a service', () => {
  test('cannot have the same secret, also in the sandbox', () => {
    const secret = `${CANARY}-of-both`;
    const services = [SERVICE, { ...SERVICE, name: 'payments', secret }];
    const env = { ROUTER_SECRETS: `secret-of-the-router,${secret}`, SERVICES: JSON.stringify(services) };
    expect(problemsOf({ UPSTREAM_MODE: 'sandbox', ...env })).toEqual([
      'SERVICES: expected no secret of ROUTER_SECRETS, but got one at 1.secret.',
    ]);
  });
});

describe('trusted headers in live mode', () => {
  const TRUSTED_HEADERS = '{"subject":"x-user-id"}';

  test('need somebody who is trusted', () => {
    expect(problemsOf({ ...LIVE, TRUSTED_HEADERS })).toEqual([
      'TRUSTED_HEADERS: expected it beside ROUTER_SECRETS or SERVICES, but got neither.',
    ]);
    const { ALLOW_DIRECT_ACCESS: _, ...rest } = LIVE;
    expect(problemsOf({ ...rest, TRUSTED_HEADERS, ROUTER_SECRETS: 'secret-of-the-router' })).toEqual([]);
    expect(problemsOf({ ...rest, TRUSTED_HEADERS, SERVICES: JSON.stringify([SERVICE]) })).toEqual([]);
  });

  test('need nothing in the sandbox', () => {
    expect(problemsOf({ UPSTREAM_MODE: 'sandbox', TRUSTED_HEADERS })).toEqual([]);
  });
});

describe('each region in use needs an address', () => {
  test.each([
    [
      'FINGERPRINT_APPLICATIONS',
      'FINGERPRINT_URL_EU',
      'EU',
      [APPLICATION, { ...APPLICATION, publicKey: 'pk_2', region: 'EU' }],
    ],
    [
      'CAPTCHA_CONFIGURATIONS',
      'CAPTCHA_URL_NA',
      'NA',
      [CAPTCHA, { ...CAPTCHA, captchaId: 'b'.repeat(32), region: 'NA' }],
    ],
  ])('a region of %s needs its %s', (list, address, region, rows) => {
    const env = { ...LIVE, [list]: JSON.stringify(rows) };
    expect(problemsOf(env)).toEqual([
      `${address}: expected an https address without user, query or fragment; plain http only to this machine, but got nothing, although region ${region} is in use.`,
    ]);
    expect(problemsOf({ ...env, [address]: 'https://there.test' })).toEqual([]);
  });

  test('and one that several entries need is reported once', () => {
    const rows = ['1', '2', '3'].map((publicKey) => ({ ...APPLICATION, publicKey, region: 'NA' }));
    expect(problemsOf({ ...LIVE, FINGERPRINT_APPLICATIONS: JSON.stringify(rows) })).toHaveLength(1);
  });

  test('one that is set and wrong is reported as wrong, and not as missing too', () => {
    expect(problemsOf({ ...LIVE, FINGERPRINT_URL_GLB: 'ftp://fp.test' })).toHaveLength(1);
  });
});

describe('the sandbox beside credentials of the real services', () => {
  test.each([
    'FINGERPRINT_APPLICATIONS',
    'CAPTCHA_CONFIGURATIONS',
    'FINGERPRINT_APPLICATIONS_FILE',
    'CAPTCHA_CONFIGURATIONS_FILE',
    'ATTESTATION_KEYS',
    'ATTESTATION_KEYS_FILE',
    'SEALING_KEYS',
    'SEALING_KEYS_FILE',
  ])('does not start with %s', (name) => {
    const problems = problemsOf({ UPSTREAM_MODE: 'sandbox', [name]: CANARY });
    // There is another sentence about the value itself.
    expect(problems).toContain(
      `${name.replace('_FILE', '')}: expected it to be absent while UPSTREAM_MODE is sandbox, but got a value.`,
    );
    expect(problems.join()).not.toContain(CANARY);
  });
});

describe('the two ports', () => {
  test('have to differ, also from each other’s default', () => {
    const sentence = (port: number) => `ADMIN_PORT: expected another port than PORT, but got ${port} for both.`;
    expect(problemsOf({ ...LIVE, PORT: '5000', ADMIN_PORT: '5000' })).toEqual([sentence(5000)]);
    expect(problemsOf({ ...LIVE, PORT: '9464' })).toEqual([sentence(9464)]);
  });

  test('may both be picked by the system', () => {
    expect(problemsOf({ ...LIVE, PORT: '0', ADMIN_PORT: '0' })).toEqual([]);
  });
});

describe('a store of quotas', () => {
  test('needs a quota to count', () => {
    expect(problemsOf({ ...LIVE, QUOTA_STORE_URL: 'redis://store.test' })).toEqual([
      'QUOTA_STORE_URL: expected it beside FINGERPRINT_QUOTA or CAPTCHA_QUOTA, but got neither.',
    ]);
  });

  test.each([
    'redis://store.test',
    'redis://store.test:6379/0',
    'rediss://user:password@store.test:6380/15',
    'redis://:password@10.0.0.1',
  ])('can be at %s', (quotaStoreUrl) => {
    const env = { ...LIVE, CAPTCHA_QUOTA: '{"perDay":1}', QUOTA_STORE_URL: quotaStoreUrl };
    expect(parse(env)).toMatchObject({ quotaStoreUrl });
  });

  test.each([`http://:${CANARY}@store.test`, CANARY, `redis://`, `redis://store.test/0?password=${CANARY}`])(
    'cannot be at %s, which is not shown',
    (text) => {
      const [problem = '', ...others] = problemsOf({ ...LIVE, CAPTCHA_QUOTA: '{"perDay":1}', QUOTA_STORE_URL: text });
      expect(others).toEqual([]);
      expect(problem).toMatch(/^QUOTA_STORE_URL: expected a redis:\/\/ or rediss:\/\/ address/);
      expect(problem).not.toContain(CANARY);
    },
  );
});

describe('what the documentation shows in place of values of your own', () => {
  const { ALLOW_DIRECT_ACCESS: _, ...REST } = LIVE;
  const SECRET = 'change-me-to-a-long-random-text';
  const refusal = (name: string, own: string) =>
    `${name}: expected ${own}, but got the placeholder of the documentation.`;
  const application = (changes: object) =>
    JSON.stringify([APPLICATION, { ...APPLICATION, publicKey: 'pk_2', ...changes }]);
  const captcha = (changes: object) => JSON.stringify([{ ...CAPTCHA, ...changes }]);

  describe('a placeholder in live mode', () => {
    const [APPLICATIONS, CAPTCHAS] = ['FINGERPRINT_APPLICATIONS', 'CAPTCHA_CONFIGURATIONS'] as const;
    test.each<[string, string, string, object?]>([
      ['ROUTER_SECRETS', 'a secret of your own', SECRET, REST],
      ['ROUTER_SECRETS', 'a secret of your own', '<a-secret-of-the-router>', REST],
      ['ROUTER_SECRETS', 'a value of your own at 1', `secret-of-the-router,${SECRET}`, REST],
      ['LOG_HASH_KEY', 'a secret of your own', SECRET],
      ...['change-me', 'CHANGE_ME', 'sk_1', '<secret>'].map((secret): [string, string, string] => [
        APPLICATIONS,
        'a value of your own at 1.secret',
        application({ secret }),
      ]),
      [APPLICATIONS, 'a value of your own at 1.publicKey', application({ publicKey: 'pk_1' })],
      [CAPTCHAS, 'a value of your own at 0.captchaKey', captcha({ captchaKey: 'change-me' })],
      [CAPTCHAS, 'a value of your own at 0.captchaKey', captcha({ captchaKey: 'key_1' })],
      [CAPTCHAS, 'a value of your own at 0.captchaId', captcha({ captchaId: '0123456789abcdef'.repeat(2) })],
      ['FINGERPRINT_URL_GLB', 'an address of your own', 'https://fingerprint.example'],
      ['FINGERPRINT_URL_NA', 'an address of your own', 'https://fingerprint.na.EXAMPLE/base'],
      ['CAPTCHA_URL_GLB', 'an address of your own', 'https://captcha.example.:8443'],
      ['OTEL_EXPORTER_OTLP_ENDPOINT', 'an address of your own', 'http://collector.example:4318'],
    ])('%s: expected %s, but got %s', (name, own, text, env = LIVE) => {
      expect(problemsOf({ ...env, [name]: text })).toEqual([refusal(name, own)]);
    });

    test('is named by its place, in which a key that may be a secret is not shown', () => {
      const keys = (key: string) => JSON.stringify([{ [key]: 'change-me' }]);
      const refused = (place: string) => refusal('FINGERPRINT_APPLICATIONS', `a value of your own at ${place}`);
      const lastProblem = (text: string) => problemsOf({ ...LIVE, FINGERPRINT_APPLICATIONS: text }).at(-1);
      expect(lastProblem(keys('secrets'))).toBe(refused('0.secrets'));
      for (const key of ['sk_4f1c9a', 'a-very-long-secret-of-letters', '4711'])
        expect(lastProblem(keys(key))).toBe(refused('0.(unknown key)'));
    });

    test('has a sentence for each place', () => {
      const all = application({ publicKey: 'change-me', secret: 'change-me' });
      expect(problemsOf({ ...LIVE, FINGERPRINT_APPLICATIONS: all })).toEqual([
        refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 1.publicKey'),
        refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 1.secret'),
      ]);
    });

    test('is found in a file as well', () => {
      expect(problemsOf({ ...REST, ROUTER_SECRETS_FILE: '/s' }, { '/s': `${SECRET}\n` })).toEqual([
        refusal('ROUTER_SECRETS', 'a secret of your own'),
      ]);
    });

    test('is found beside other mistakes in the same value', () => {
      const text = application({ secret: 'change-me', region: 'MARS' });
      expect(problemsOf({ ...LIVE, FINGERPRINT_APPLICATIONS: text })).toEqual([
        expect.stringContaining('(1.region: expected GLB, NA or EU)'),
        refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 1.secret'),
      ]);
    });
  });

  describe('what is no placeholder', () => {
    test.each([
      ['FINGERPRINT_URL_GLB', 'https://example.fingerprint.test'],
      ['FINGERPRINT_URL_GLB', 'https://my-example'],
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
