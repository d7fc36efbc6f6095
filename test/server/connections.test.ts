import { once } from 'node:events';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode, startInSandboxMode, type TestApp } from '../support/app.ts';
import { type Connection, json, openConnection, request } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** What all clients together may hold: connections, and bodies of requests. */

const CONNECTIONS = 100;
const SECRET = 'the-secret-of-the-router';
const PROBE = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
const OPERATION = '{"query":"{ __typename }"}';
const DATA = '{"data":{"__typename":"Query"}}';

function operation(secret = SECRET): string {
  const head = `POST /graphql HTTP/1.1\r\nhost: x\r\nrouter-authorization: ${secret}\r\ncontent-type: application/json`;
  return `${head}\r\ncontent-length: ${OPERATION.length}\r\n\r\n${OPERATION}`;
}

async function start(overrides: Partial<Config> = {}): Promise<TestApp> {
  const app = await startInSandboxMode({ maxConnections: CONNECTIONS, routerSecrets: [SECRET], ...overrides });
  onTestFinished(app.stop);
  return app;
}

function open(url: string, bytes = ''): Connection {
  const connection = openConnection(url, bytes);
  onTestFinished(() => void connection.socket.destroy());
  return connection;
}

/** Waits until something came back, or until the connection is closed without an answer. */
async function answered({ socket, received, closed }: Connection): Promise<string> {
  if (!received()) await Promise.race([once(socket, 'data').catch(() => undefined), closed]);
  return received();
}

/** Opens this many connections one after the other, each with a request that is answered before the next one is opened. */
async function openInTurn(url: string, count: number, bytes: string): Promise<Connection[]> {
  const connections: Connection[] = [];
  for (let at = 0; at < count; at += 1) {
    const connection = open(url, bytes);
    connections.push(connection);
    await answered(connection);
  }
  return connections;
}

const isOpen = ({ socket }: Connection) => !socket.destroyed && !socket.readableEnded;

test.each([
  ['asked for a probe', PROBE],
  ['asked for nothing that there is', 'GET /favicon.ico HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['sent nothing at all', ''],
  ['sent half a request', 'POST /graphql HTTP/1.1\r\nhost: x\r\n'],
])('while every connection is held by a client that %s, a router and a probe are answered', async (_what, bytes) => {
  const app = await start();
  const [router] = await openInTurn(app.url, 1, operation());
  const flood = Array.from({ length: CONNECTIONS * 2 }, () => open(app.url, bytes));
  await Promise.all(flood.slice(0, CONNECTIONS).map(({ closed }) => closed));

  expect(await answered(open(app.url, operation()))).toContain(DATA);
  expect(await answered(open(app.url, PROBE))).toContain('alive');
  // The connection that the router had before the flood is still there.
  router?.socket.write(operation());
  await expect.poll(() => router?.received().split(DATA).length).toBe(3);
});

test('the oldest connection without an operation is closed first, from 90 % of the limit on, and counted', async () => {
  const app = await start();
  const evictions = async () => (await readMetrics(app)).value('device_trust_connections_evicted_total');
  const [own] = await openInTurn(app.url, 1, PROBE);
  own?.socket.end();
  await own?.closed;
  expect(await evictions()).toBe(0);
  const connections = await openInTurn(app.url, 95, PROBE);
  await connections[4]?.closed;
  expect(connections.map(isOpen)).toEqual(connections.map((_connection, at) => at >= 5));
  expect(await evictions()).toBe(5);
});

test('a client with a wrong secret or none is closed before a router, and a flood closes no router', async () => {
  const app = await start();
  const routers = await openInTurn(app.url, 50, operation());
  for (const secret of ['a-wrong-secret-of-some-stranger', '']) {
    expect(await answered(open(app.url, operation(secret)))).toContain('401 Unauthorized');
  }
  await openInTurn(app.url, CONNECTIONS, PROBE);
  expect(routers.filter(isOpen)).toHaveLength(50);
});

test('without router secrets any client that sent an operation counts as a router', async () => {
  const app = await start({ routerSecrets: [] });
  const clients = await openInTurn(app.url, 50, operation(''));
  await openInTurn(app.url, CONNECTIONS, PROBE);
  expect(clients.filter(isOpen)).toHaveLength(50);
});

test('when routers hold every connection, the next one is closed and counted, and let in when another one ends', async () => {
  const app = await start({ maxConnections: 3 });
  const [first] = await openInTurn(app.url, 3, operation());
  expect(await answered(open(app.url, operation()))).toBe('');
  const { value } = await readMetrics(app);
  expect(value('device_trust_requests_refused_total', { code: 'OVERLOADED' })).toBe(1);

  first?.socket.end();
  await expect.poll(() => answered(open(app.url, operation()))).toContain(DATA);
});

describe('bodies are bounded while they arrive and until their operations have ended', async () => {
  const TOGETHER = 64 * 1024 * 1024;
  const LARGEST = 512 * 1024;
  const LARGE_BODIES = TOGETHER / LARGEST;

  /** Each lets one call of an operation end. */
  const waiting: (() => void)[] = [];
  const upstream = await startUpstream((_request, response) => {
    waiting.push(() => sendJson(response, 400, { code: 400, message: 'Invalid request', data: { errors: [] } }));
  });
  const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
  const app = await startInLiveMode(urls, { fingerprintTimeoutMs: 60_000 });
  afterAll(() => Promise.all([app.stop(), upstream.stop()]));

  const LINES = 'host: x\r\ncontent-type: application/json\r\nconnection: close';
  const HEAD = `POST /graphql HTTP/1.1\r\n${LINES}\r\ncontent-length: ${LARGEST}`;
  const judgement = (token: string) =>
    JSON.stringify({ query: `{ deviceFingerprint(token: "${token}") { __typename } }` }).padEnd(LARGEST);
  /** Longer than what the large bodies of a test leave. */
  const SMALL = '{"query":"{ __typename }"}'.padEnd(1_000);
  const askSmall = () => request(app.graphqlUrl, json(SMALL));
  const refusals = async () =>
    (await readMetrics(app)).value('device_trust_requests_refused_total', { code: 'OVERLOADED' }) ?? 0;
  const statusOfSmall = async () => (await askSmall()).status;
  /** Large bodies are sent by this process as well, on a machine that may be busy. */
  const POLL = { timeout: 20_000, interval: 50 };

  test('bodies that arrive hold what has arrived, until their connections are closed', async () => {
    // One byte is missing, so none of them becomes an operation.
    const bytes = `${HEAD}\r\n\r\n${judgement('t').slice(0, -1)}`;
    const connections = Array.from({ length: LARGE_BODIES }, () => openConnection(app.url, bytes));
    await expect.poll(statusOfSmall, POLL).toBe(503);
    const { text, headers } = await askSmall();
    expect(JSON.parse(text).errors).toMatchObject([{ extensions: { code: 'OVERLOADED', retryable: true } }]);
    expect([headers.get('connection'), headers.get('retry-after')]).toEqual(['close', '1']);
    for (const { socket } of connections) socket.destroy();
    await expect.poll(statusOfSmall, POLL).toBe(200);
  }, 60_000);

  test.each(['disconnect', 'get their answer'])(
    'bodies of operations under way hold their bytes until their clients %s, and refusals are counted',
    async (end) => {
      const from = waiting.length;
      const before = Number(await refusals());
      const connections = Array.from({ length: LARGE_BODIES }, (_, i) =>
        openConnection(app.url, `${HEAD}\r\n\r\n${judgement(`${end}-${i}`)}`),
      );
      await expect.poll(() => waiting.length - from, POLL).toBe(LARGE_BODIES);
      expect(await statusOfSmall()).toBe(503);
      expect(await refusals()).toBe(before + 1);
      if (end === 'disconnect') for (const { socket } of connections) socket.destroy();
      else {
        for (const respond of waiting.slice(from)) respond();
        for (const { closed } of connections) expect(await closed).toMatch(/^HTTP\/1\.1 200 /);
      }
      await expect.poll(statusOfSmall, POLL).toBe(200);
    },
    60_000,
  );
});
