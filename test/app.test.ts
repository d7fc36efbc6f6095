import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Config } from '../src/config/variables.ts';
import { readMetrics } from './observability/exposition.ts';
import { startInLiveMode, startInSandboxMode } from './support/app.ts';
import { CAPTCHA_MUTATION } from './support/graphql.ts';
import { freePort } from './support/ports.ts';
import { shell } from './support/process.ts';
import { ask, openConnection, request } from './support/requests.ts';
import { sendJson, startUpstream } from './support/upstream.ts';

/** How the app stops, what happens if it cannot start, and the examples with which it greets. */

const open: { stop(): Promise<unknown> }[] = [];
afterEach(() => Promise.all(open.splice(0).map((one) => one.stop())));

const INPUT = { lotNumber: 'lot-1', captchaOutput: 'o', passToken: 'p', genTime: '1' };
const FAIL = { status: 'success', result: 'fail', reason: 'pass_token expire', captcha_args: { lot_number: 'lot-1' } };

/** An app with one verification under way, whose upstream answers when the test releases it. */
async function startBusy() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: underWay, resolve: arrived } = Promise.withResolvers<void>();
  const upstream = await startUpstream(async (_request, response) => {
    arrived();
    await released;
    sendJson(response, 200, FAIL);
  });
  const app = await startInLiveMode(upstream.url);
  open.push(upstream, app, { stop: async () => release() });
  return { app, release, underWay };
}

const refused = { cause: { code: 'ECONNREFUSED' } };
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('stop', () => {
  test('answers 503 at /readyz on a connection that is still open, and closes it', async () => {
    const { app, release, underWay } = await startBusy();
    const { socket, closed } = openConnection(app.url);
    const body = JSON.stringify({ query: CAPTCHA_MUTATION, variables: { input: INPUT } });
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await underWay;
    const stopped = app.stop();
    socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
    await pause(50);
    release();
    await stopped;
    const [first, second] = (await closed).split(/(?=HTTP\/1\.1 503)/);
    expect(first).toMatch(/^HTTP\/1\.1 200 [\s\S]*PASS_TOKEN_EXPIRED/);
    expect(second).toMatch(/^HTTP\/1\.1 503 [\s\S]*draining\n$/);
    expect(second?.toLowerCase()).toContain('connection: close');
  });

  test('fails readiness for the grace period on both ports, and still answers, with connection: close', async () => {
    const app = await startInSandboxMode({ shutdownGraceMs: 2_000 });
    open.push(app);
    expect((await readMetrics(app)).value('device_trust_ready')).toBe(1);
    const start = performance.now();
    const stopped = app.stop();
    // All at once, so that a busy machine answers them within that time.
    const [{ value }, { data, headers }, ...answers] = await Promise.all([
      readMetrics(app),
      ask(app.graphqlUrl, '{ signalCatalogue { code } }'),
      ...[app.url, app.metricsUrl].flatMap((port) =>
        ['/healthz', '/readyz'].map((path) => request(new URL(path, port).href)),
      ),
    ]);
    expect(value('device_trust_ready')).toBe(0);
    expect([data.signalCatalogue.length, headers.get('connection')]).toEqual([51, 'close']);
    const [alive, draining] = [{ status: 200 }, { status: 503, text: 'draining\n' }];
    expect(answers).toMatchObject([alive, draining, alive, draining]);
    expect(answers[1]?.headers.get('connection')).toBe('close');
    await stopped;
    expect(performance.now() - start).toBeGreaterThan(1_980);
    for (const port of [app.url, app.metricsUrl]) await expect(fetch(port)).rejects.toMatchObject(refused);
  });

  test('closes idle connections', async () => {
    const app = await startInSandboxMode();
    open.push(app);
    const idle = openConnection(app.url);
    idle.socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => idle.socket.once('data', resolve));
    await app.stop();
    expect(await idle.closed).toContain('alive');
    for (const url of [app.url, ...Object.values(app.sandboxUrls ?? {})]) {
      await expect(fetch(url)).rejects.toMatchObject(refused);
    }
  });

  test('may be called again, and frees the port for the next app', async () => {
    const port = await freePort();
    const first = await startInSandboxMode({ port });
    await first.stop();
    await expect(first.stop()).resolves.toBeUndefined();
    const second = await startInSandboxMode({ port });
    open.push(second);
    expect(second.url).toBe(first.url);
  });
});

describe('a port that is taken', () => {
  const host = '127.0.0.1';

  /** Four free ports in a row, the last of which is then taken; and who listens on the others later. */
  async function occupyLast() {
    const ports = [await freePort()];
    while (ports.length < 4) {
      const next = await freePort();
      if (next !== (ports.at(-1) ?? 0) + 1) ports.length = 0;
      ports.push(next);
    }
    const [port = 0, second = 0, third = 0, last = 0] = ports;
    const server = createServer();
    await once(server.listen(last, host), 'listening');
    open.push({ stop: () => new Promise((resolve) => server.close(resolve)) });
    return { port, free: [port, second, third] };
  }

  test.each([
    ['is taken', (port: number) => ({ port: port + 3, sandboxPort: port }), { code: 'EADDRINUSE' }],
    ['of its sandbox is taken', (port: number) => ({ port, sandboxPort: port + 1 }), { code: 'EADDRINUSE' }],
    ['is of another machine', (sandboxPort: number) => ({ host: '192.0.2.1', sandboxPort }), { code: 'EADDRNOTAVAIL' }],
  ])('the app whose address %s does not start, and leaves nothing listening', async (_what, at, failure) => {
    const { port, free } = await occupyLast();
    await expect(startInSandboxMode(at(port))).rejects.toMatchObject(failure);
    for (const one of free) await expect(fetch(`http://${host}:${one}`)).rejects.toMatchObject(refused);
  });
});

test.each<[string, Partial<Config>, string]>([
  ['ROUTER_SECRETS', { routerSecrets: ['the-secret-of-the-router', 'the-one-of-before'] }, 'the-secret-of-the-router'],
  [
    'SERVICES',
    { services: [{ name: 'orders', secret: 'the-secret-of-orders', scopes: ['risk:read'] }] },
    'the-secret-of-orders',
  ],
])('in sandbox mode with %s every example asks for the secret, and none shows it', async (name, config, secret) => {
  const app = await startInSandboxMode(config);
  open.push(app);
  const lines = app.examples.split('\n');
  expect(lines.join('\n')).not.toMatch(/the-secret-of|the-one-of-before/);
  const [setting = '', ...others] = lines.filter((line) => line.startsWith('SECRET='));
  expect([setting, others]).toEqual([expect.stringMatching(new RegExp(`^SECRET='[a-z ]+${name}'$`)), []]);
  const commands = lines.filter((line) => line.startsWith('curl '));
  expect(commands).toHaveLength(3);
  for (const command of commands) {
    const { data, errors } = JSON.parse(await shell(`SECRET='${secret}'; ${command}`));
    expect([Object.values(data), errors]).toEqual([[expect.anything()], undefined]);
    const refusal = JSON.parse(await shell(`${setting}; ${command}`));
    expect(refusal.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  }
});
