import { describe, expect, test, vi } from 'vitest';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { type Context, LIVE, preload, SANDBOX, startServing } from './environments.ts';

/** Packages that the process does not load unless it needs them, whichever of our files imports them. */

const INPUT = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };

/** What a process with this environment loaded until it was ready, and what afterwards, when it was asked everything. */
async function modulesWith(context: Context, env: Readonly<Record<string, string>>) {
  const { child, graphqlUrl } = await startServing(context, { ...env, ...preload('list modules') }, 'src/main.ts');
  child.signal('SIGUSR2');
  await vi.waitUntil(() => child.stderr() === 'noted\n', { timeout: 10_000 });
  // A document is compiled when it is sent for the third time.
  for (let time = 0; time < 5; time += 1) {
    await ask(graphqlUrl, FINGERPRINT_QUERY, { token: 'sandbox:web' });
    await ask(graphqlUrl, ENTITIES_QUERY, {
      representations: [{ __typename: 'DeviceFingerprint', token: 'sandbox:ios' }],
    });
    await ask(graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
    await ask(graphqlUrl, '{ signalCatalogue { code } _service { sdl } }');
  }
  expect(await child.end('SIGTERM')).toBe(0);
  const [before = '', after = ''] = child.stderr().split('\nSIGUSR2\n');
  // Those of Node itself are in memory anyway.
  return { all: child.stderr(), before, after: after.split('\n').filter((module) => module.startsWith('file:')) };
}

/** The SDK of OpenTelemetry. Its interfaces come along with prom-client, and do nothing by themselves. */
const SDK = /@opentelemetry\/(?!api\/)/;
const UNDICI_INSIDE_NODE = 'internal/deps/undici/undici';

describe.concurrent('modules', () => {
  test('in live mode: nothing that only others need, and nothing after readiness', async (context) => {
    const { all, before, after } = await modulesWith(context, { ...LIVE, FINGERPRINT_QUOTA: '{"perDay":1}' });
    for (const needed of ['/node_modules/undici/', '/graphql-jit/']) expect(before).toContain(needed);
    expect(after).toEqual([]);
    expect(all).not.toMatch(SDK);
    expect(all).not.toMatch(/\/node_modules\/(ioredis|rate-limiter-flexible|jose|pino-pretty)\//);
    expect(all).toContain('NativeModule ');
    expect(all).not.toContain(UNDICI_INSIDE_NODE);
  });

  test('in sandbox mode: the library that signs, no SDK for traces, and nothing after readiness', async (context) => {
    const { all, before, after } = await modulesWith(context, SANDBOX);
    for (const needed of ['/graphql-jit/', '/jose/', '/pino-pretty/']) expect(before).toContain(needed);
    expect(after).toEqual([]);
    expect(all).not.toMatch(SDK);
  });

  test('where traces are exported and quotas are stored: what that takes', async (context) => {
    const { all } = await modulesWith(context, {
      ...LIVE,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      FINGERPRINT_QUOTA: '{"perDay":1}',
      QUOTA_STORE_URL: 'redis://127.0.0.1:9',
    });
    for (const needed of ['@opentelemetry/sdk-trace', 'ioredis', 'rate-limiter-flexible']) {
      expect(all).toContain(`/node_modules/${needed}/`);
    }
  });
});
