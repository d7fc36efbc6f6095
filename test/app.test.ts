import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../src/settings/variables.ts';
import { FAIL } from './faults/documented.ts';
import { readMetrics } from './observability/exposition.ts';
import { startInLiveMode, startInSandboxMode } from './support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION } from './support/graphql.ts';
import { listen } from './support/loopback.ts';
import { freePort } from './support/ports.ts';
import { shell } from './support/process.ts';
import { ask, openConnection, postBytes, request } from './support/requests.ts';
import { untilEnd } from './support/until-end.ts';
import { startHeldUpstream } from './support/upstream.ts';

/** How the app stops, what happens if it cannot start, and the examples with which it greets. */

const refused = { cause: { code: 'ECONNREFUSED' } };
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('stop', () => {
  test('stop answers 503 at /readyz on a connection that is still open, and closes it', async () => {
    const upstream = await untilEnd(startHeldUpstream(FAIL));
    const app = await untilEnd(startInLiveMode(upstream.url));
    const { socket, closed } = openConnection(app.url);
    socket.write(postBytes(JSON.stringify({ query: CAPTCHA_MUTATION, variables: { input: CAPTCHA_INPUT } })));
    await upstream.arrived;
    const stopped = app.stop();
    socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
    await pause(50);
    upstream.release();
    await stopped;
    const [first, second] = (await closed).split(/(?=HTTP\/1\.1 503)/);
    expect(first).toMatch(/^HTTP\/1\.1 200 [\s\S]*PASS_TOKEN_EXPIRED/);
    expect(second).toMatch(/^HTTP\/1\.1 503 [\s\S]*draining\n$/);
    expect(second?.toLowerCase()).toContain('connection: close');
  });

  test('stop fails readiness for the grace period on both ports, and still answers, with connection: close', async () => {
    const app = await untilEnd(startInSandboxMode({ shutdownGraceMs: 2_000 }));
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
    expect(data.signalCatalogue).toContainEqual({ code: 'EMULATOR' });
    expect(headers.get('connection')).toBe('close');
    const [alive, draining] = [{ status: 200 }, { status: 503, text: 'draining\n' }];
    expect(answers).toMatchObject([alive, draining, alive, draining]);
    expect(answers[1]?.headers.get('connection')).toBe('close');
    await stopped;
    expect(performance.now() - start).toBeGreaterThan(1_980);
    for (const port of [app.url, app.metricsUrl]) await expect(fetch(port)).rejects.toMatchObject(refused);
  });

  test('stop may be called again, and frees the port for the next app', async () => {
    const port = await freePort();
    const first = await startInSandboxMode({ port });
    await first.stop();
    await expect(first.stop()).resolves.toBeUndefined();
    const second = await untilEnd(startInSandboxMode({ port }));
    expect(second.url).toBe(first.url);
  });
});

const servers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length;

test.each<[string, (taken: number) => Partial<Config>, string]>([
  ['is taken', (port) => ({ port }), 'EADDRINUSE'],
  // The last of the three regions.
  ['of its sandbox is taken', (port) => ({ sandboxPort: port - 2 }), 'EADDRINUSE'],
  ['is of another machine', () => ({ host: '192.0.2.1' }), 'EADDRNOTAVAIL'],
])('the app whose address %s does not start, and leaves nothing listening', async (_what, at, code) => {
  const server = createServer();
  const taken = await listen(server, await freePort());
  onTestFinished(() => void server.close());
  // This one alone.
  await expect.poll(servers).toBe(1);
  await expect(startInSandboxMode(at(taken))).rejects.toMatchObject({ code });
  await expect.poll(servers).toBe(1);
});

test.each<[string, Partial<Config>, string]>([
  ['ROUTER_SECRETS', { routerSecrets: ['the-secret-of-the-router', 'the-one-of-before'] }, 'the-secret-of-the-router'],
  [
    'SERVICES',
    { services: [{ name: 'orders', secret: 'the-secret-of-orders', scopes: ['risk:read'] }] },
    'the-secret-of-orders',
  ],
])('sandbox mode with %s: every example asks for the secret, and none shows it', async (name, config, secret) => {
  const app = await untilEnd(startInSandboxMode(config));
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
