import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ROOT, startProcess, type TestProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { LIVE, SANDBOX } from './environments.ts';

/** Packages that the process does not load unless it needs them, whichever of our files imports them. */

const INPUT = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };

let child: TestProcess | undefined;
afterEach(() => child?.stop());

/** The addresses of all modules that a process with this environment loaded until it had answered a question. */
async function modulesWith(env: Readonly<Record<string, string>>, questions = 1): Promise<string> {
  child = startProcess('src/main.ts', {
    NODE_OPTIONS: '--import=./test/process/list-modules.ts',
    SHUTDOWN_GRACE_MS: '0',
    PORT: '0',
    ADMIN_PORT: '0',
    ...env,
  });
  const [, graphqlUrl = ''] = await child.waitFor(/"?url"?: ?"([^"]+)"/);
  for (let asked = 0; asked < questions; asked += 1) {
    await ask(graphqlUrl, FINGERPRINT_QUERY, { token: 'sandbox:web' });
    await ask(graphqlUrl, ENTITIES_QUERY, {
      representations: [{ __typename: 'DeviceFingerprint', token: 'sandbox:ios' }],
    });
    await ask(graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
    await ask(graphqlUrl, '{ signalCatalogue { code } _service { sdl } }');
  }
  expect(await child.end('SIGTERM')).toBe(0);
  return child.stderr();
}

describe('the SDK of OpenTelemetry', () => {
  test.each([
    ['sandbox', SANDBOX],
    ['live', LIVE],
  ])('is not loaded in %s mode when nothing is traced', async (_mode, env) => {
    const modules = await modulesWith(env);
    // Shows that the list is not empty.
    expect(modules).toMatch(/\/node_modules\/undici\//);
    // Its interfaces come along with prom-client; they do nothing by themselves.
    expect(modules).not.toMatch(/@opentelemetry\/(?!api\/)/);
  });

  test('is loaded when traces are exported', async () => {
    const modules = await modulesWith({ ...LIVE, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
    expect(modules).toMatch(/\/@opentelemetry\/sdk-trace\//);
  });
});

test.each([
  ['sandbox', SANDBOX],
  ['live', LIVE],
])('in %s mode no module is loaded after readiness, whatever is asked', async (_mode, env) => {
  // Those of Node itself are in memory anyway.
  const ours = (modules: string) => [...new Set(modules.split('\n').filter((url) => url.startsWith('file:')))];
  const before = ours(await modulesWith(env, 0));
  expect(before.join()).toContain('/graphql-jit/');
  expect(ours(await modulesWith(env, 5))).toEqual(before);
});

test('the client and the limiter of a store of quotas are loaded only where there is a store', async () => {
  const quota = { ...LIVE, FINGERPRINT_QUOTA: '{"perDay":1}' };
  expect(await modulesWith(quota)).not.toMatch(/\/node_modules\/(ioredis|rate-limiter-flexible)\//);
  const modules = await modulesWith({ ...quota, QUOTA_STORE_URL: 'redis://127.0.0.1:9' });
  expect(modules).toContain('/node_modules/ioredis/');
  expect(modules).toContain('/node_modules/rate-limiter-flexible/');
});

test('the library that signs attestations is loaded only where there are any', async () => {
  expect(await modulesWith(LIVE)).not.toContain('/node_modules/jose/');
  expect(await modulesWith(SANDBOX)).toContain('/node_modules/jose/');
});

test('live mode does not load the printer of log lines for people', async () => {
  expect(await modulesWith(LIVE)).not.toContain('pino-pretty');
});

test.each([
  ['./src/app.ts', false],
  ['node:http', true],
])('importing %s loads the undici inside Node: %s', (specifier, isLoaded) => {
  const script = `import('${specifier}').then(() => console.log(process.moduleLoadList.join()))`;
  const modules = execFileSync(process.execPath, ['--eval', script], { cwd: ROOT, encoding: 'utf8' });
  expect(modules.includes('internal/deps/undici/undici')).toBe(isLoaded);
});
