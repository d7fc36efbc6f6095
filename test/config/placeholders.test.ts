import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';
import { APPLICATION, CAPTCHA, LIVE, problemsOf, REST } from './support.ts';

/** Live mode refuses the placeholders that the documentation shows in place of values of your own. */

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
    ['QUOTA_STORE_URL', 'an address of your own', 'redis://store.example', { ...LIVE, CAPTCHA_QUOTA: '{"perDay":1}' }],
  ])('a placeholder in live mode is refused: %s, expected %s, but got %s', (name, own, text, env = LIVE) => {
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
  ])('a secret for a try %s', (_what, env, names) => {
    expect(problemsOf(env).map((problem) => problem.split(':', 1).join())).toEqual(names);
  });

  test('each secret that a page or a file shows is refused as a placeholder', () => {
    const pages = ['README.md', 'deploy/README.md', 'deploy/compose.yaml'];
    const text = pages.map((path) => readFileSync(join(ROOT, path), 'utf8')).join();
    const NAMES = 'ROUTER_SECRETS|SERVICES|FINGERPRINT_APPLICATIONS|CAPTCHA_CONFIGURATIONS';
    const shown = [...text.matchAll(new RegExp(`\\b(${NAMES})[=:] ?('(.*)'|[\\w-]+)$`, 'gm'))];
    const urls = { FINGERPRINT_URL_EU: 'https://fp.test', CAPTCHA_URL_EU: 'https://captcha.test' };
    expect(shown.length).toBeGreaterThan(9);
    for (const [line, name = '', plain = '', quoted = plain] of shown) {
      const env = { ...(/^(ROUTER|SERVICES)/.test(name) ? REST : LIVE), ...urls, [name]: quoted };
      expect(problemsOf(env).join(), line).toContain('placeholder from the documentation');
    }
  });
});

describe('what is no placeholder', () => {
  test.each([
    ['FINGERPRINT_URL_GLB', 'https://example.fingerprint.test'],
    ['LOG_HASH_KEY', 'never-change-me-at-all'],
    ['FINGERPRINT_APPLICATIONS', application({ publicKey: 'pk_10', secret: 'sk_12' })],
  ])('%s=%s is no placeholder', (name, text) => {
    expect(problemsOf({ ...LIVE, [name]: text })).toEqual([]);
  });

  test('the sandbox accepts placeholders, because it keeps nothing that is worth a secret', () => {
    expect(problemsOf({ UPSTREAM_MODE: 'sandbox', ROUTER_SECRETS: SECRET })).toEqual([]);
  });
});
