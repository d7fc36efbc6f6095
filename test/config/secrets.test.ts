import { describe, expect, test } from 'vitest';
import { APPLICATION, CANARY, CAPTCHA, LIVE, parse, problemsOf } from './support.ts';

/** Credentials in the configuration: where they may come from, what each list needs, and that no sentence shows one. */

const APPLICATIONS_EXPECTED =
  'FINGERPRINT_APPLICATIONS: expected a JSON list of {"publicKey", "secret", "region"}, region GLB, NA or EU, with different public keys, but got ';
const CAPTCHAS_EXPECTED =
  'CAPTCHA_CONFIGURATIONS: expected a JSON list of {"captchaId", "captchaKey", "region"}, region GLB, NA or EU, with different captcha ids of 32 characters, but got ';

describe('live mode needs both lists', () => {
  test('none of them is there', () => {
    expect(problemsOf({ ALLOW_DIRECT_ACCESS: 'true' })).toEqual([
      `${APPLICATIONS_EXPECTED}nothing.`,
      `${CAPTCHAS_EXPECTED}nothing.`,
    ]);
  });

  test('an address alone does not help', () => {
    const { FINGERPRINT_APPLICATIONS: _, CAPTCHA_CONFIGURATIONS: __, ...addresses } = LIVE;
    expect(problemsOf(addresses)).toHaveLength(2);
  });
});

describe('a list that is not right names the place, and never the value', () => {
  const application = (changes: object) =>
    JSON.stringify([APPLICATION, { ...APPLICATION, publicKey: 'pk_2', ...changes }]);
  const captcha = (changes: object) => JSON.stringify([{ ...CAPTCHA, ...changes }]);

  test.each<[string, string, string]>([
    ['not JSON', `[{"publicKey":"pk","secret":"${CANARY}"`, 'not JSON'],
    ['JSON with a trailing comma', `[{"secret":"${CANARY}"},]`, 'not JSON'],
    ['the secret alone', CANARY, 'not JSON'],
    ['a JSON text', JSON.stringify(CANARY), 'array'],
    ['an object', JSON.stringify({ secret: CANARY }), 'array'],
    ['a list of texts', JSON.stringify([CANARY]), '0: '],
    ['an empty list', '[]', ''],
    ['no public key', application({ publicKey: undefined, secret: CANARY }), '1.publicKey'],
    ['a secret that is a number', application({ secret: 424_242_424 }), '1.secret'],
    ['a secret in a list', application({ secret: [CANARY] }), '1.secret'],
    ['a secret with a line end', application({ secret: `${CANARY}\n` }), '1.secret'],
    ['a secret with a space', application({ secret: `${CANARY} ${CANARY}` }), '1.secret'],
    ['a secret beyond ASCII', application({ secret: `${CANARY}é` }), '1.secret'],
    ['an empty secret', application({ secret: '' }), '1.secret'],
    ['a public key of dots', application({ publicKey: '..', secret: CANARY }), '1.publicKey'],
    ['an unknown region', application({ region: CANARY }), '1.region'],
    ['a region in lower case', application({ region: 'eu', secret: CANARY }), '1.region'],
    ['a public key twice', application({ publicKey: 'pk_1', secret: CANARY }), 'same publicKey'],
  ])('applications: %s', (_what, text, place) => {
    const problems = problemsOf({ ...LIVE, FINGERPRINT_APPLICATIONS: text });
    expect(problems).toEqual([expect.stringContaining(APPLICATIONS_EXPECTED)]);
    expect(problems[0]).toContain(place);
    expect(problems[0]).not.toContain(CANARY);
    expect(problems[0]).not.toContain('424242424');
  });

  test.each<[string, string, string]>([
    ['not JSON', `{"captchaKey":"${CANARY}"`, 'not JSON'],
    ['an id of 31 characters', captcha({ captchaId: 'a'.repeat(31), captchaKey: CANARY }), '0.captchaId'],
    ['an id of 33 characters', captcha({ captchaId: 'a'.repeat(33), captchaKey: CANARY }), '0.captchaId'],
    ['an empty key', captcha({ captchaKey: '' }), '0.captchaKey'],
    ['a key copied with a line end', captcha({ captchaKey: `${CANARY}\n` }), '0.captchaKey'],
    ['a key in an object', captcha({ captchaKey: { [CANARY]: CANARY } }), '0.captchaKey'],
    ['no region', captcha({ captchaKey: CANARY, region: undefined }), '0.region'],
    ['an id twice', JSON.stringify([CAPTCHA, { ...CAPTCHA, captchaKey: CANARY }]), 'same captchaId'],
  ])('captcha ids: %s', (_what, text, place) => {
    const problems = problemsOf({ ...LIVE, CAPTCHA_CONFIGURATIONS: text });
    expect(problems).toEqual([expect.stringContaining(CAPTCHAS_EXPECTED)]);
    expect(problems[0]).toContain(place);
    expect(problems[0]).not.toContain(CANARY);
  });

  test.each([
    `https://user:${CANARY}@captcha.example`,
    `https://user:${CANARY}@captcha.example/@here`,
    `https:user:${CANARY}@captcha.example`,
    `user:${CANARY}@captcha.example`,
  ])('a password in an address is one as well: %s', (url) => {
    const problems = problemsOf({ ...LIVE, CAPTCHA_URL_GLB: url });
    expect(problems).toEqual([expect.stringContaining('CAPTCHA_URL_GLB: expected an https address without user')]);
    expect(problems.join()).not.toContain(CANARY);
  });
});

describe('NAME_FILE', () => {
  const { FINGERPRINT_APPLICATIONS, ...rest } = LIVE;
  const path = '/run/secrets/fp';
  const env = { ...rest, FINGERPRINT_APPLICATIONS_FILE: path };

  test('holds the value', () => {
    expect(problemsOf(env, { [path]: FINGERPRINT_APPLICATIONS })).toEqual([]);
  });

  test('cannot be read', () => {
    const [problem, ...others] = problemsOf(env);
    expect(others).toEqual([]);
    expect(problem).toMatch(/^FINGERPRINT_APPLICATIONS_FILE: expected a readable file .* but got /);
  });

  test('beside NAME is one too many', () => {
    const both = { ...LIVE, FINGERPRINT_APPLICATIONS_FILE: path };
    expect(problemsOf(both, { [path]: FINGERPRINT_APPLICATIONS })).toEqual([
      'FINGERPRINT_APPLICATIONS: expected either it or FINGERPRINT_APPLICATIONS_FILE, but got both.',
    ]);
  });

  test.each([
    ['is malformed', `[{"secret":"${CANARY}"`],
    ['is empty', ''],
  ])('%s', (_what, text) => {
    const problems = problemsOf(env, { [path]: text });
    expect(problems).toEqual([expect.stringContaining(APPLICATIONS_EXPECTED)]);
    expect(problems.join()).not.toContain(CANARY);
  });

  test('holds the value itself instead of a path, by mistake', () => {
    const mistaken = { ...rest, FINGERPRINT_APPLICATIONS_FILE: JSON.stringify([{ ...APPLICATION, secret: CANARY }]) };
    expect(problemsOf(mistaken)).toEqual([expect.stringContaining('FINGERPRINT_APPLICATIONS_FILE: expected ')]);
    expect(problemsOf(mistaken).join()).not.toContain(CANARY);
  });

  test('is for secrets alone', () => {
    const { CAPTCHA_URL_GLB, ...others } = LIVE;
    expect(problemsOf({ ...others, CAPTCHA_URL_GLB_FILE: path }, { [path]: CAPTCHA_URL_GLB })).toEqual([
      'CAPTCHA_URL_GLB_FILE: there is no such variable. Correct the name or remove it.',
      expect.stringMatching(/^CAPTCHA_URL_GLB: expected .* but got nothing, although region GLB is in use\.$/),
    ]);
  });
});

describe('the key of the hashes in logs', () => {
  const keyOf = (env: object, file = '') => parse({ ...LIVE, ...env }, { '/key': file }).logHashKey;
  const KEY = `${CANARY}-${CANARY}`;

  test('may be absent, stand in the environment, or in a file', () => {
    expect(keyOf({})).toBeUndefined();
    expect(keyOf({ LOG_HASH_KEY: KEY })).toBe(KEY);
    expect(keyOf({ LOG_HASH_KEY_FILE: '/key' }, `${KEY}\n`)).toBe(KEY);
  });

  test.each([
    ['too short', CANARY],
    ['too long', KEY.repeat(20)],
    ['in several words', `${KEY} ${KEY}`],
  ])('is not shown when it is %s', (_what, LOG_HASH_KEY) => {
    const problems = problemsOf({ ...LIVE, LOG_HASH_KEY });
    expect(problems).toEqual([
      expect.stringContaining('LOG_HASH_KEY: expected 16 to 256 visible ASCII characters, but got'),
    ]);
    expect(problems.join()).not.toContain(CANARY);
  });
});

describe('regions', () => {
  test.each([
    [
      'FINGERPRINT_APPLICATIONS',
      'FINGERPRINT_URL_EU',
      [APPLICATION, { ...APPLICATION, publicKey: 'pk_2', region: 'EU' }],
    ],
    ['CAPTCHA_CONFIGURATIONS', 'CAPTCHA_URL_NA', [CAPTCHA, { ...CAPTCHA, captchaId: 'b'.repeat(32), region: 'NA' }]],
  ])('a region of %s needs its %s', (list, address, rows) => {
    const env = { ...LIVE, [list]: JSON.stringify(rows) };
    expect(problemsOf(env)).toEqual([expect.stringMatching(new RegExp(`^${address}: expected .* but got nothing`))]);
    expect(problemsOf({ ...env, [address]: 'https://there.example' })).toEqual([]);
  });

  test('one address is missed once, however many entries need it', () => {
    const rows = ['1', '2', '3'].map((publicKey) => ({ ...APPLICATION, publicKey, region: 'NA' }));
    expect(problemsOf({ ...LIVE, FINGERPRINT_APPLICATIONS: JSON.stringify(rows) })).toHaveLength(1);
  });
});

describe('the sandbox beside live credentials', () => {
  test.each([
    'FINGERPRINT_APPLICATIONS',
    'CAPTCHA_CONFIGURATIONS',
    'FINGERPRINT_APPLICATIONS_FILE',
    'CAPTCHA_CONFIGURATIONS_FILE',
  ])('does not start with %s', (name) => {
    const problems = problemsOf({ UPSTREAM_MODE: 'sandbox', [name]: CANARY });
    // Beside what is wrong with the value itself.
    expect(problems).toContain(
      `${name.replace('_FILE', '')}: expected it to be absent while UPSTREAM_MODE is sandbox, but got a value.`,
    );
    expect(problems.join()).not.toContain(CANARY);
  });
});
