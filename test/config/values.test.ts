import { describe, expect, test } from 'vitest';
import { ConfigError, parseConfig } from '../../src/config/parser.ts';

/** What an operator may write, and what one reads who wrote something else (design, section 3). */

const ID = 'a'.repeat(32);
const APPLICATIONS = '[{"publicKey":"pk_1","secret":"sk_1","region":"GLB"}]';
const CAPTCHAS = `[{"captchaId":"${ID}","captchaKey":"key_1","region":"GLB"}]`;
const LIVE = {
  ALLOW_DIRECT_ACCESS: 'true',
  FINGERPRINT_APPLICATIONS: APPLICATIONS,
  FINGERPRINT_URL_GLB: 'https://fp.example',
  CAPTCHA_CONFIGURATIONS: CAPTCHAS,
  CAPTCHA_URL_GLB: 'https://captcha.example',
};
const CANARY = 'canary-7f3a';

type Texts = Readonly<Record<string, string>>;

/** No file but these can be read. */
const parse = (env: Texts, files: Texts = {}) =>
  parseConfig(env, (path) => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT: ${path}`);
    return text;
  });

function problemsOf(env: Texts, files: Texts = {}): readonly string[] {
  try {
    parse(env, files);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

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
  load: { inFlight: 512, queue: 512, eventLoopDelayMs: 200, shutdownGraceMs: 2_000 },
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
const ADDRESS = 'expected an https address without user, query or fragment; plain http only to this machine';

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

  // The address itself is never repeated: someone may have put a key into its query, or pasted one in its place.
  test.each<[string, readonly string[]]>([
    [
      'no address',
      ['fp.example', '//fp.example', 'https://', 'https://a b', 'https://fp.example ', 'sk_live_canary-7f3a'],
    ],
    ['not https', ['ftp://fp.example', 'http://fp.example', 'http://10.0.0.1', 'http://0.0.0.0', 'http://[::2]']],
    ['not https', ['http://localhost.evil.com', 'http://127.0.0.1.evil.com']],
    [
      'a user, query or fragment',
      ['https://fp.example?x=1', 'https://fp.example/#x', 'http://localhost?key=canary-7f3a'],
    ],
    // Either one swallows the path that is appended to the address.
    ['a user, query or fragment', ['https://fp.example?', 'https://fp.example/#']],
    [
      'a user, query or fragment',
      ['https://user:pw@fp.example', 'http://user:pw@127.0.0.1', 'https://user@fp.example'],
    ],
  ])('an address that is %s', (flaw, urls) => {
    for (const name of ['FINGERPRINT_URL_GLB', 'CAPTCHA_URL_GLB']) {
      for (const url of urls) {
        const sentence = `${name}: ${ADDRESS}, but got a value that does not fit (${flaw}).`;
        expect(problemsOf({ ...LIVE, [name]: url })).toEqual([sentence]);
      }
    }
  });

  test.each<[string, readonly string[]]>([
    ['no address', ['/v1/traces', 'http://', `${CANARY} 4318`]],
    ['neither http nor https', ['collector:4318', 'grpc://collector:4317', `file:///${CANARY}`]],
    ['a user, query or fragment', [`http://user:${CANARY}@collector`, `https://collector?key=${CANARY}`]],
  ])('an OTLP endpoint that is %s', (flaw, urls) => {
    const expected = 'expected an http or https address without user, query or fragment';
    for (const url of urls) {
      expect(problemsOf({ ...LIVE, OTEL_EXPORTER_OTLP_ENDPOINT: url })).toEqual([
        `OTEL_EXPORTER_OTLP_ENDPOINT: ${expected}, but got a value that does not fit (${flaw}).`,
      ]);
    }
  });

  test.each([
    'CAPTCHA_FAILOPEN',
    'captcha_fail_open',
    'FINGERPRINT_APPLICATION',
    'FINGERPRINT_URL_EU_FILE',
    'SANDBOX_PROT',
  ])('%s, which is no variable but looks like one', (name) => {
    expect(problemsOf({ ...LIVE, [name]: CANARY })).toEqual([
      `${name}: there is no such variable. Correct the name or remove it.`,
    ]);
  });

  test('but not what Kubernetes sets for a service of the same name', () => {
    const ofKubernetes = {
      CAPTCHA_SERVICE_HOST: '10.0.0.1',
      CAPTCHA_SERVICE_PORT_HTTPS: '443',
      CAPTCHA_PORT: 'tcp://10.0.0.1:443',
      FINGERPRINT_API_PORT_443_TCP_ADDR: '10.0.0.1',
    };
    expect(problemsOf({ ...LIVE, ...ofKubernetes })).toEqual([]);
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
