import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { APPLICATIONS, CANARY, CAPTCHAS, ID, LIVE, parse, problemsOf } from './support.ts';

/** What an operator may write, and what one reads who wrote something else (design, section 3). */

const DEFAULTS = {
  host: '127.0.0.1',
  port: 4001,
  fingerprintTimeoutMs: 3000,
  captchaTimeoutMs: 5000,
  captchaFailOpen: 'faults',
  routerSecrets: [],
  limits: {
    bodyBytes: 128 * 1024,
    tokens: 2_000,
    depth: 12,
    aliases: 100,
    directives: 50,
    representations: 1_000,
    upstreamCalls: 100,
    captchas: 1,
  },
  load: { connections: 4_096, inFlight: 512, queue: 512, eventLoopDelayMs: 200, shutdownGraceMs: 2_000 },
  logLevel: 'info',
  logHashKey: undefined,
  adminPort: 9464,
  otlpEndpoint: undefined,
};
const LIVE_UPSTREAMS = {
  mode: 'live',
  applications: [{ publicKey: 'pk_1', secret: 'sk_1', region: 'GLB', baseUrl: 'https://fp.example' }],
  captchas: [{ captchaId: ID, captchaKey: 'key_1', region: 'GLB', baseUrl: 'https://captcha.example' }],
};

describe('what need not be said', () => {
  test('live mode is the default, and the rest has defaults too', () => {
    expect(parse(LIVE)).toEqual({ ...DEFAULTS, upstreams: LIVE_UPSTREAMS });
  });

  test('the sandbox serves only when asked for, and needs nothing else', () => {
    expect(parse({ UPSTREAM_MODE: 'sandbox' })).toEqual({ ...DEFAULTS, upstreams: { mode: 'sandbox', port: 4100 } });
  });

  test('an empty text is as good as none', () => {
    const names = ['UPSTREAM_MODE', 'HOST', 'PORT', 'SANDBOX_PORT', 'CAPTCHA_FAIL_OPEN', 'FINGERPRINT_URL_NA'];
    const secrets = ['FINGERPRINT_APPLICATIONS_FILE', 'CAPTCHA_CONFIGURATIONS_FILE'];
    const times = ['FINGERPRINT_TIMEOUT_MS', 'CAPTCHA_TIMEOUT_MS'];
    const empty = Object.fromEntries([...names, ...secrets, ...times].map((name) => [name, '']));
    expect(parse({ ...empty, ...LIVE })).toEqual(parse(LIVE));
    expect(problemsOf({ FINGERPRINT_APPLICATIONS: '', CAPTCHA_CONFIGURATIONS: '', ROUTER_SECRETS: '' })).toHaveLength(
      3,
    );
  });
});

describe('what is taken', () => {
  test.each<[string, string, object]>([
    ['HOST', '0.0.0.0', { host: '0.0.0.0' }],
    ['HOST', '::1', { host: '::1' }],
    ['PORT', '0', { port: 0 }],
    ['PORT', '65535', { port: 65_535 }],
    ['FINGERPRINT_TIMEOUT_MS', '1', { fingerprintTimeoutMs: 1 }],
    ['CAPTCHA_TIMEOUT_MS', '60000', { captchaTimeoutMs: 60_000 }],
    ['CAPTCHA_FAIL_OPEN', 'always', { captchaFailOpen: 'always' }],
    ['CAPTCHA_FAIL_OPEN', 'never', { captchaFailOpen: 'never' }],
    ['LOG_LEVEL', 'silent', { logLevel: 'silent' }],
    ['LOG_LEVEL', 'trace', { logLevel: 'trace' }],
    ['LOG_HASH_KEY', 'k'.repeat(16), { logHashKey: 'k'.repeat(16) }],
    ['ADMIN_PORT', '0', { adminPort: 0 }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318/', { otlpEndpoint: 'http://collector:4318' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://otlp.example/base', { otlpEndpoint: 'https://otlp.example/base' }],
    ['UPSTREAM_MODE', 'live', { upstreams: LIVE_UPSTREAMS }],
  ])('%s=%s', (name, text, expected) => {
    expect(parse({ ...LIVE, [name]: text })).toMatchObject(expected);
  });

  test.each(['0', '65533'])('SANDBOX_PORT=%s', (port) => {
    const { upstreams } = parse({ UPSTREAM_MODE: 'sandbox', SANDBOX_PORT: port });
    expect(upstreams).toEqual({ mode: 'sandbox', port: Number(port) });
  });

  test.each([
    ['https://fp.example', 'https://fp.example'],
    ['https://fp.example:8443/', 'https://fp.example:8443'],
    ['https://fp.example/base//', 'https://fp.example/base'],
    ['http://127.0.0.1:4100', 'http://127.0.0.1:4100'],
    ['http://127.8.9.10', 'http://127.8.9.10'],
    ['http://localhost:1', 'http://localhost:1'],
    ['http://[::1]:1', 'http://[::1]:1'],
  ])('FINGERPRINT_URL_GLB=%s', (text, baseUrl) => {
    expect(parse({ ...LIVE, FINGERPRINT_URL_GLB: text }).upstreams).toMatchObject({ applications: [{ baseUrl }] });
  });

  test('each entry gets the address of its own region', () => {
    const regions = ['EU', 'GLB', 'NA', 'EU'];
    const rows = regions.map((region, index) => ({ publicKey: `pk_${index}`, secret: 's', region }));
    const { upstreams } = parse({
      ...LIVE,
      FINGERPRINT_APPLICATIONS: JSON.stringify(rows),
      FINGERPRINT_URL_NA: 'https://fp-na.example',
      FINGERPRINT_URL_EU: 'https://fp-eu.example',
    });
    expect(upstreams).toMatchObject({
      applications: [
        { publicKey: 'pk_0', baseUrl: 'https://fp-eu.example' },
        { publicKey: 'pk_1', baseUrl: 'https://fp.example' },
        { publicKey: 'pk_2', baseUrl: 'https://fp-na.example' },
        { publicKey: 'pk_3', baseUrl: 'https://fp-eu.example' },
      ],
    });
  });

  test('secrets may come from files, whose last line may end', () => {
    const { FINGERPRINT_APPLICATIONS: _, CAPTCHA_CONFIGURATIONS: __, ...rest } = LIVE;
    const files = { '/run/fp': `${APPLICATIONS}\n`, '/run/captcha': CAPTCHAS };
    const names = { FINGERPRINT_APPLICATIONS_FILE: '/run/fp', CAPTCHA_CONFIGURATIONS_FILE: '/run/captcha' };
    expect(parse({ ...rest, ...names }, files)).toEqual(parse(LIVE));
  });
});

const WHOLE = 'expected a whole number from 1 to 60000';

describe('what is refused, in one sentence', () => {
  test.each<[string, string, readonly string[]]>([
    ['UPSTREAM_MODE', 'expected live or sandbox', ['prod', 'LIVE', ' live', 'true']],
    ['PORT', 'expected a port from 0 to 65535', ['65536', '-1', '80.5', '0x50', '1e3', ' 80', 'http', '４００１']],
    ['SANDBOX_PORT', 'expected a port from 0 to 65533', ['65534', 'auto']],
    ['FINGERPRINT_TIMEOUT_MS', WHOLE, ['0', '60001', '3s', '-1', '1.5', 'Infinity', '9'.repeat(400)]],
    ['CAPTCHA_TIMEOUT_MS', WHOLE, ['0', '60001', '5_000', 'never']],
    ['MAX_DEPTH', 'expected a whole number from 1 to 100', ['0', '101', 'deep']],
    // Beyond, a document can make the validation run out of stack: test/observability/alarms.test.ts.
    ['MAX_TOKENS', 'expected a whole number from 10 to 5000', ['9', '5001']],
    ['LOG_LEVEL', 'expected trace, debug, info, warn, error, fatal or silent', ['verbose', 'INFO', ' info', '30']],
    ['ADMIN_PORT', 'expected a port from 0 to 65535', ['65536', '-1', 'metrics']],
    ['ALLOW_DIRECT_ACCESS', 'expected true or false', ['yes', '1', 'TRUE']],
    ['CAPTCHA_FAIL_OPEN', 'expected faults, always or never', ['true', 'false', 'Faults', 'always,never']],
  ])('%s: %s', (name, expected, values) => {
    for (const value of values) {
      expect(problemsOf({ ...LIVE, [name]: value })).toEqual([
        `${name}: ${expected}, but got ${JSON.stringify(value)}.`,
      ]);
    }
  });

  test('all mistakes at once', () => {
    const problems = problemsOf({
      ...LIVE,
      PORT: '70000',
      FINGERPRINT_APPLICATIONS: `[{"publicKey":"pk_1","secret":"${CANARY}","region":"MARS"}]`,
      FINGERPRINT_TIMEOUT_MS: '3s',
      CAPTCHA_URL_GLB: 'http://captcha.example',
      CAPTCHA_FAIL_OPEN: 'sometimes',
    });
    expect(problems).toHaveLength(5);
    for (const [name, got] of [
      ['PORT', '"70000"'],
      ['FINGERPRINT_APPLICATIONS', '0.region'],
      ['FINGERPRINT_TIMEOUT_MS', '"3s"'],
      ['CAPTCHA_URL_GLB', 'not https'],
      ['CAPTCHA_FAIL_OPEN', '"sometimes"'],
    ]) {
      const sentence = problems.find((problem) => problem.startsWith(`${name}: expected `));
      expect(sentence).toContain(got);
      expect(sentence).not.toContain(CANARY);
    }
  });
});

describe('numbers', () => {
  const page = readFileSync(join(import.meta.dirname, '../../deploy/README.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| .*\| (a (?:port|whole number) from (\d+) to (\d+)) \|$/gm)];

  test('are many', () => {
    expect(rows.length).toBeGreaterThan(15);
  });

  test.each(rows.map(([, name = '', expected = '', least, most]) => ({ name, expected, least, most })))(
    '$name: $expected, both included',
    ({ name, expected, least, most }) => {
      for (const value of [least, most]) expect(problemsOf({ ...LIVE, [name]: String(value) })).toEqual([]);
      for (const value of [Number(least) - 1, Number(most) + 1]) {
        expect(problemsOf({ ...LIVE, [name]: String(value) })).toEqual([
          `${name}: expected ${expected}, but got "${value}".`,
        ]);
      }
    },
  );
});

test('a wrong mode hides no other mistake', () => {
  const problems = problemsOf({
    ...LIVE,
    UPSTREAM_MODE: 'production',
    FINGERPRINT_URL_EU: 'ftp://x',
    CAPTCHA_CONFIGURATIONS: '[]',
  });
  expect(problems.map((problem) => problem.split(':', 1)[0]).sort()).toEqual([
    'CAPTCHA_CONFIGURATIONS',
    'FINGERPRINT_URL_EU',
    'UPSTREAM_MODE',
  ]);
});
