import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Variable } from '../../src/config/values.ts';
import { VARIABLES } from '../../src/settings/variables.ts';
import { APPLICATION, CANARY, CAPTCHA, CAPTCHAS, LIVE, parse, problemsOf, REST } from './support.ts';

/** What an operator may write into a variable, and what the sentence about a wrong value says. */

describe('what is accepted', () => {
  test.each<[string, string, object]>([
    ['HOST', '0.0.0.0', { host: '0.0.0.0' }],
    ['HOST', '::1', { host: '::1' }],
    ['PORT', '0', { port: 0 }],
    ['CAPTCHA_FAIL_OPEN', 'always', { captchaFailOpen: 'always' }],
    ['UPSTREAM_CHECK', 'all', { upstreamCheck: 'all' }],
    ['LOG_LEVEL', 'silent', { logLevel: 'silent' }],
    ['LOG_HASH_KEY', 'k'.repeat(16), { logHashKey: 'k'.repeat(16) }],
    ['FINGERPRINT_QUOTA', '{"perSecond":200,"perDay":1000000}', { fingerprintQuota: { perSecond: 200, perDay: 1e6 } }],
    ['FINGERPRINT_QUOTA', '{"perDay":1}', { fingerprintQuota: { perDay: 1 } }],
    ['CAPTCHA_QUOTA', '{"perSecond":999999999}', { captchaQuota: { perSecond: 999_999_999 } }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318/', { otlpEndpoint: 'http://collector:4318' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://otlp.test/base', { otlpEndpoint: 'https://otlp.test/base' }],
    ['FINGERPRINT_URL_GLB', 'https://fp.test:8443/', { fingerprintUrlGLB: 'https://fp.test:8443' }],
    ['FINGERPRINT_URL_GLB', 'https://fp.test/base//', { fingerprintUrlGLB: 'https://fp.test/base' }],
    ['FINGERPRINT_URL_GLB', 'http://127.8.9.10', { fingerprintUrlGLB: 'http://127.8.9.10' }],
    ['FINGERPRINT_URL_GLB', 'http://localhost:1', { fingerprintUrlGLB: 'http://localhost:1' }],
    ['FINGERPRINT_URL_GLB', 'http://[::1]:1', { fingerprintUrlGLB: 'http://[::1]:1' }],
  ])('the value %s=%s is accepted', (name, text, expected) => {
    expect(parse({ ...LIVE, [name]: text })).toMatchObject(expected);
  });

  test('one router secret, or two while they are rotated', () => {
    const secretsOf = (text: string) => parse({ UPSTREAM_MODE: 'sandbox', ROUTER_SECRETS: text }).routerSecrets;
    expect(secretsOf('secret-of-the-router')).toEqual(['secret-of-the-router']);
    expect(secretsOf('the-old-router-secret, the-new-router-secret')).toEqual([
      'the-old-router-secret',
      'the-new-router-secret',
    ]);
  });
});

const QUOTA =
  'expected JSON such as {"perSecond":200,"perDay":1000000}, with at least one limit, each from 1 to 999999999';

test.each([
  ['PORT', 0, 65_535],
  ['SANDBOX_PORT', 0, 65_533],
  ['FINGERPRINT_TIMEOUT_MS', 1, 60_000],
  ['CAPTCHA_TIMEOUT_MS', 1, 60_000],
  ['UPSTREAM_MAX_IN_FLIGHT', 1, 10_000],
  ['MAX_BODY_BYTES', 1_024, 10_485_760],
  ['MAX_REPRESENTATIONS', 1, 100_000],
  ['MAX_COST', 100, 10_000_000],
  ['MAX_UPSTREAM_CALLS', 1, 10_000],
  ['MAX_CAPTCHAS', 1, 100],
  ['MAX_CONNECTIONS', 1, 100_000],
  ['SHUTDOWN_GRACE_MS', 0, 30_000],
])('a number may be as small or as large as the sentence about it says: %s', (name, min, max) => {
  for (const value of [min - 1, max + 1])
    expect(problemsOf({ ...LIVE, [name]: `${value}` })).toEqual([
      expect.stringContaining(`from ${min} to ${max}, but got "${value}"`),
    ]);
  for (const value of [min, max]) expect(() => parse({ ...LIVE, [name]: `${value}` })).not.toThrow();
});

test.each<[string, string, readonly string[]]>([
  ['UPSTREAM_MODE', 'expected live or sandbox', ['prod', 'LIVE', ' live', 'true']],
  ['PORT', 'expected a port from 0 to 65535', ['-1', '80.5', '0x50', '1e3', ' 80', '4s', '9'.repeat(400), '４００１']],
  ['LOG_LEVEL', 'expected trace, debug, info, warn, error, fatal or silent', ['verbose', 'INFO', ' info', '30']],
  ['ALLOW_DIRECT_ACCESS', 'expected true or false', ['yes', '1', 'TRUE']],
  ['FINGERPRINT_QUOTA', QUOTA, ['200', '{}', '[]', '{"perSecond":0}', '{"perDay":1.5}', '{"perDay":"9"}']],
  ['CAPTCHA_QUOTA', QUOTA, ['{"perHour":1}', '{"perDay":1000000000}', '{"perDay":1,}', 'null']],
  ['UPSTREAM_CHECK', 'expected first, all or off', ['true', 'none', 'FIRST']],
  ['CAPTCHA_FAIL_OPEN', 'expected faults, always or never', ['true', 'false', 'Faults', 'always,never']],
])('a value that is no secret is shown: %s, %s', (name, expected, values) => {
  for (const value of values) {
    expect(problemsOf({ ...LIVE, [name]: value })).toEqual([`${name}: ${expected}, but got ${JSON.stringify(value)}.`]);
  }
});

describe('an address is never shown, because a key can be in its query, or be set by mistake instead', () => {
  const ADDRESS = 'expected an https address without user, query or fragment; plain http only to this machine';
  test.each<[string, readonly string[]]>([
    ['no address', ['fp.test', '//fp.test', 'https://', 'https://a b', 'https://fp.test ', 'sk_live_canary-7f3a']],
    ['not https', ['ftp://fp.test', 'http://fp.test', 'http://10.0.0.1', 'http://0.0.0.0', 'http://[::2]']],
    ['not https', ['http://localhost.evil.com', 'http://127.0.0.1.evil.com']],
    ['a user, query or fragment', ['https://fp.test?x=1', 'https://fp.test/#x', 'http://localhost?key=canary-7f3a']],
    // Either one swallows the path that is appended to the address.
    ['a user, query or fragment', ['https://fp.test?', 'https://fp.test/#']],
    ['a user, query or fragment', ['https://user:pw@fp.test', 'http://user:pw@127.0.0.1', 'https://user@fp.test']],
    ['a user, query or fragment', ['https://user:canary-7f3a@fp.test/@here', 'https:user:canary-7f3a@fp.test']],
  ])('an address that is %s', (flaw, urls) => {
    for (const url of urls)
      expect(problemsOf({ ...LIVE, CAPTCHA_URL_GLB: url })).toEqual([
        `CAPTCHA_URL_GLB: ${ADDRESS}, but got a wrong value (${flaw}).`,
      ]);
  });

  test.each<[string, readonly string[]]>([
    ['no address', ['/v1/traces', 'http://', `${CANARY} 4318`]],
    ['neither http nor https', ['collector:4318', 'grpc://collector:4317', `file:///${CANARY}`]],
    ['a user, query or fragment', [`http://user:${CANARY}@collector`, `https://collector?key=${CANARY}`]],
  ])('an OTLP endpoint that is %s', (flaw, urls) => {
    for (const url of urls)
      expect(problemsOf({ ...LIVE, OTEL_EXPORTER_OTLP_ENDPOINT: url })).toEqual([
        `OTEL_EXPORTER_OTLP_ENDPOINT: expected an http or https address without user, query or fragment, but got a wrong value (${flaw}).`,
      ]);
  });
});

describe('the message about a list of accounts names each path that is wrong, and never a value', () => {
  const EXPECTED = {
    FINGERPRINT_APPLICATIONS:
      'a JSON list of {"publicKey", "secret", "region"}, region GLB, NA or EU, with different public keys',
    CAPTCHA_CONFIGURATIONS:
      'a JSON list of {"captchaId", "captchaKey", "region"}, region GLB, NA or EU, with different captcha ids of 32 characters',
  };
  const expectPlaces = (name: keyof typeof EXPECTED, text: string, places: string) =>
    expect(problemsOf({ ...LIVE, [name]: text })).toEqual([
      `${name}: expected ${EXPECTED[name]}, but got a wrong value (${places}).`,
    ]);
  const second = (changes: object) => JSON.stringify([APPLICATION, { ...APPLICATION, publicKey: 'pk_2', ...changes }]);
  const SECRET = '1.secret: expected visible ASCII characters';
  const PUBLIC_KEY = '1.publicKey: expected visible ASCII characters, not dots alone';
  const REGION = '1.region: expected GLB, NA or EU';

  test.each<[string, string, string]>([
    ['text that is not JSON', `[{"publicKey":"pk","secret":"${CANARY}"`, 'it is not JSON'],
    ['the secret alone', CANARY, 'it is not JSON'],
    ['a list of texts', JSON.stringify([CANARY]), '0: expected an object'],
    ['an empty list', '[]', 'expected at least one entry'],
    ['no public key', second({ publicKey: undefined, secret: CANARY }), `${PUBLIC_KEY}, but it is missing`],
    ['a secret in a list', second({ secret: [CANARY] }), SECRET],
    ['a secret with a line end', second({ secret: `${CANARY}\n` }), SECRET],
    ['a secret with a space', second({ secret: `${CANARY} ${CANARY}` }), SECRET],
    ['an empty secret', second({ secret: '' }), SECRET],
    ['a public key of dots', second({ publicKey: '..', secret: CANARY }), PUBLIC_KEY],
    ['an unknown region', second({ region: CANARY }), REGION],
    ['a region in lower case', second({ region: 'eu', secret: CANARY }), REGION],
    ['a public key twice', second({ publicKey: 'pk_shop' }), 'expected no two entries with the same publicKey'],
    ['a mistyped key', second({ regoin: 'EU' }), '1: expected no unknown key "regoin"'],
    [
      'a mistyped key in place of the right one',
      second({ secret: undefined, secrett: CANARY }),
      `${SECRET}, but it is missing; 1: expected no unknown key "secrett"`,
    ],
    ['a secret as a key', second({ [CANARY]: 'secret' }), '1: expected no unknown key'],
    [
      'several mistakes',
      second({ region: 'MARS', secret: 'ü', note: CANARY }),
      `${SECRET}; ${REGION}; 1: expected no unknown key "note"`,
    ],
  ])('applications: %s', (_what, text, places) => expectPlaces('FINGERPRINT_APPLICATIONS', text, places));

  const captcha = (changes: object) => JSON.stringify([{ ...CAPTCHA, ...changes }]);
  const ID_PLACE = '0.captchaId: expected 32 visible ASCII characters';
  const KEY_PLACE = '0.captchaKey: expected a text without white space around it';

  test.each<[string, string, string]>([
    ['text that is not JSON', `{"captchaKey":"${CANARY}"`, 'it is not JSON'],
    ['an id of 33 characters', captcha({ captchaId: 'a'.repeat(33), captchaKey: CANARY }), ID_PLACE],
    ['an empty key', captcha({ captchaKey: '' }), KEY_PLACE],
    ['a key copied with a line end', captcha({ captchaKey: `${CANARY}\n` }), KEY_PLACE],
    ['an id twice', JSON.stringify([CAPTCHA, CAPTCHA]), 'expected no two entries with the same captchaId'],
  ])('captcha ids: %s', (_what, text, places) => expectPlaces('CAPTCHA_CONFIGURATIONS', text, places));
});

describe('secrets of ours', () => {
  const EXPECTED = 'a comma-separated list of 1 to 8 secrets, each of 16 to 256 visible ASCII characters';
  const ONE = 'expected 16 to 256 visible ASCII characters';
  const LONG = `${CANARY}-${CANARY}`;

  test.each([
    ['one that is too short', CANARY, `0: ${ONE}`],
    ['an empty one among them', `secret-of-the-router,,${LONG}`, `1: ${ONE}`],
    ['one with a space inside', `secret of the router ${CANARY}`, `0: ${ONE}`],
    ['nine of them', Array(9).fill(LONG).join(), 'expected at most 8 secrets'],
  ])('ROUTER_SECRETS with %s', (_what, ROUTER_SECRETS, places) => {
    expect(problemsOf({ UPSTREAM_MODE: 'sandbox', ROUTER_SECRETS })).toEqual([
      `ROUTER_SECRETS: expected ${EXPECTED}, but got a wrong value (${places}).`,
    ]);
  });

  test('LOG_HASH_KEY that is too short, too long or of several words', () => {
    for (const LOG_HASH_KEY of [CANARY, LONG.repeat(20), `${LONG} ${LONG}`])
      expect(problemsOf({ ...LIVE, LOG_HASH_KEY })).toEqual([
        'LOG_HASH_KEY: expected 16 to 256 visible ASCII characters, but got a wrong value.',
      ]);
  });
});

describe.each(['LOG_SAMPLE', 'OTEL_TRACES_SAMPLER_ARG'])('the ratio %s', (name) => {
  test.each([
    ['0', 0],
    ['1', 1],
    ['0.001', 0.001],
    ['1.0', 1],
  ])('a ratio of %s is accepted', (text, expected) => {
    const { logSample, otelTracesSamplerArg } = parse({ ...LIVE, [name]: text });
    expect(name === 'LOG_SAMPLE' ? logSample : otelTracesSamplerArg).toBe(expected);
  });

  test.each(['1.1', '-0.1', '2', '10%', '1e-1', '.5', '0,5', '0.'])('a ratio of %s is refused', (text) => {
    expect(problemsOf({ ...LIVE, [name]: text })).toEqual([
      `${name}: expected a number from 0 to 1, such as 0.1, but got "${text}".`,
    ]);
  });
});

const LEFT = 'a value without quotes around it, but got one that an env file has left in quotes';
test.each<[string, string, ...string[]]>([
  ['PORT', '"4002"', LEFT],
  ['LOG_HASH_KEY', `'${CANARY}-${CANARY}'`, LEFT],
  ['CAPTCHA_CONFIGURATIONS', CAPTCHAS.replace('key_shop', `“${CANARY}”`), 'no quotes within the text at 0.captchaKey'],
  ['CAPTCHA_QUOTA', '{"perDay":1,"perDay":2}', 'each key once in its object, but got "perDay" twice'],
  ['SEALING_KEYS', `{"${CANARY}":1,"${CANARY}":2}`, 'each key once in its object, but got one twice', 'a JSON list'],
])('%s=%s is a slip, and is named as one', (name, text, ...expected) => {
  const problems = problemsOf({ ...LIVE, [name]: text });
  expect(problems).toEqual(expected.map((sentence) => expect.stringContaining(`${name}: expected ${sentence}`)));
  expect(problems.join()).not.toContain(CANARY);
});

describe('whatever is written, no message has words of a library, a regular expression or a secret', () => {
  /** What zod says by itself, and what regular expressions look like. */
  const FOREIGN =
    /invalid|must match|pattern|received|too (small|big|short|long)|unrecognized|required|\/\^|\\[sdwxu]|\[\\|\$\//i;
  const secret = fc.stringMatching(/^[!-~]{8,40}$/).map((text) => `${CANARY}${text}`);
  const leaf = fc.oneof(secret, fc.integer(), fc.constantFrom(true, null, 'GLB'), fc.array(secret));
  const KEYS = 'publicKey secret captchaId captchaKey name region secrett kid kty k d alg key_ops __proto__'.split(' ');
  const entry = fc.oneof(leaf, fc.dictionary(fc.oneof(secret, fc.constantFrom(...KEYS)), leaf));
  const hidden = Object.values<Variable>(VARIABLES).filter((row) => row.secret || row.isExplained);

  test.each(hidden)(
    'no message about $name has words of a library, a regular expression or a secret',
    ({ name, expected }) => {
      const made = fc.oneof(
        fc.string().map((text) => `${CANARY}${text}`),
        fc.oneof(fc.array(entry), entry).map((value) => JSON.stringify(value)),
        fc.stringMatching(/^(https?|redis):\/\/[a-z.:@/?#=]{1,20}$/).map((url) => `${url}${CANARY}`),
      );
      fc.assert(
        fc.property(made, (text) => {
          for (const problem of problemsOf({ ...REST, [name]: text })) {
            // Its own sentence may have an example with such a word.
            expect(problem.replace(expected, '')).not.toMatch(FOREIGN);
            expect(problem).not.toContain(CANARY);
            expect(problem).not.toContain('expected another value');
          }
        }),
        { numRuns: 50 },
      );
    },
  );
});
