import { describe, expect, test } from 'vitest';
import { APPLICATION, CAPTCHA, LIVE, problemsOf } from './support.ts';

/** What the documentation shows in place of an operator's own values is refused in live mode. */

const { ALLOW_DIRECT_ACCESS: _, ...REST } = LIVE;
const SECRET = 'change-me-to-a-long-random-text';
const refusal = (name: string, own: string) =>
  `${name}: expected ${own}, but got the placeholder of the documentation.`;
const application = (changes: object) =>
  JSON.stringify([APPLICATION, { ...APPLICATION, publicKey: 'pk_2', ...changes }]);
const captcha = (changes: object) => JSON.stringify([{ ...CAPTCHA, ...changes }]);

describe('a placeholder in live mode', () => {
  test.each<[string, string, string, object]>([
    ['ROUTER_SECRETS', 'a secret of your own', SECRET, REST],
    ['ROUTER_SECRETS', 'a secret of your own', '<a-secret-of-the-router>', REST],
    ['ROUTER_SECRETS', 'a value of your own at 1', `secret-of-the-router,${SECRET}`, REST],
    ['LOG_HASH_KEY', 'a secret of your own', SECRET, LIVE],
    ['FINGERPRINT_APPLICATIONS', 'a value of your own at 1.secret', application({ secret: 'change-me' }), LIVE],
    ['FINGERPRINT_APPLICATIONS', 'a value of your own at 1.secret', application({ secret: 'CHANGE_ME' }), LIVE],
    ['FINGERPRINT_APPLICATIONS', 'a value of your own at 1.secret', application({ secret: 'sk_1' }), LIVE],
    ['FINGERPRINT_APPLICATIONS', 'a value of your own at 1.secret', application({ secret: '<secret>' }), LIVE],
    ['FINGERPRINT_APPLICATIONS', 'a value of your own at 1.publicKey', application({ publicKey: 'pk_1' }), LIVE],
    ['CAPTCHA_CONFIGURATIONS', 'a value of your own at 0.captchaKey', captcha({ captchaKey: 'change-me' }), LIVE],
    ['CAPTCHA_CONFIGURATIONS', 'a value of your own at 0.captchaKey', captcha({ captchaKey: 'key_1' }), LIVE],
    [
      'CAPTCHA_CONFIGURATIONS',
      'a value of your own at 0.captchaId',
      captcha({ captchaId: '0123456789abcdef0123456789abcdef' }),
      LIVE,
    ],
    ['FINGERPRINT_URL_GLB', 'an address of your own', 'https://fingerprint.example', LIVE],
    ['FINGERPRINT_URL_NA', 'an address of your own', 'https://fingerprint.na.EXAMPLE/base', LIVE],
    ['CAPTCHA_URL_GLB', 'an address of your own', 'https://captcha.example.:8443', LIVE],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'an address of your own', 'http://collector.example:4318', LIVE],
  ])('%s: expected %s, but got %s', (name, own, text, env) => {
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
