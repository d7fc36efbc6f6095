import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInSandboxMode, type TestApp } from '../support/app.ts';
import { type Connection, openConnection } from '../support/requests.ts';

/** Which connections are closed when clients open more than there may be. */

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

/** A router with one connection that it keeps. */
function startRouter({ graphqlUrl }: TestApp) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ask = () =>
    new Promise<{ text: string; reused: boolean }>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'router-authorization': SECRET };
      const sent = httpRequest(graphqlUrl, { method: 'POST', agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('error', reject);
        response.on('data', (part) => {
          text += part;
        });
        response.on('end', () => resolve({ text: text.trim(), reused: sent.reusedSocket }));
      });
      sent.on('error', reject).end(OPERATION);
    });
  return { ask };
}

const isOpen = ({ socket }: Connection) => !socket.destroyed && !socket.readableEnded;

test.each([
  ['asked for a probe', PROBE],
  ['asked for nothing that there is', 'GET /favicon.ico HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['sent nothing at all', ''],
  ['sent half a request', 'POST /graphql HTTP/1.1\r\nhost: x\r\n'],
])('while every connection is held by a client that %s, a router and a probe are answered', async (_what, bytes) => {
  const app = await start();
  const established = startRouter(app);
  expect(await established.ask()).toEqual({ text: DATA, reused: false });
  const flood = Array.from({ length: CONNECTIONS * 2 }, () => open(app.url, bytes));
  await Promise.all(flood.slice(0, CONNECTIONS).map(({ closed }) => closed));

  expect(await startRouter(app).ask()).toEqual({ text: DATA, reused: false });
  expect(await answered(open(app.url, PROBE))).toContain('alive');
  // The connection that the router had before the flood is still there.
  expect(await established.ask()).toEqual({ text: DATA, reused: true });
});

test('the oldest connection without an operation is closed first, from 90 % of the limit on', async () => {
  const app = await start();
  const connections = await openInTurn(app.url, 95, PROBE);
  await connections[4]?.closed;
  expect(connections.map(isOpen)).toEqual(connections.map((_connection, at) => at >= 5));
});

test('a client with a wrong secret or none is closed before a router, and a flood closes no router', async () => {
  const app = await start();
  const routers = await openInTurn(app.url, 50, operation());
  for (const secret of ['a-wrong-secret-of-some-stranger', '']) {
    expect(await answered(open(app.url, operation(secret)))).toContain('401 Unauthorized');
  }
  await openInTurn(app.url, CONNECTIONS, PROBE);
  expect(routers.filter(isOpen)).toHaveLength(50);
  const unproven = open(app.url, `${PROBE}${operation('')}`);
  expect(await unproven.closed).toContain('UNAUTHENTICATED');
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
