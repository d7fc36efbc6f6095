import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/settings/variables.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInSandboxMode } from '../support/app.ts';
import { type Connection, postBytes, sendBytes } from '../support/requests.ts';
import type { Overrides } from '../support/server.ts';
import { untilEnd } from '../support/until-end.ts';
import {
  MB,
  OPERATION,
  openUntilEnd,
  ROUTER_AND_SERVICES,
  requestOf,
  SECRET,
  SERVICES,
  startHolding,
  statusIn,
  statusOf,
} from './holding.ts';

/** What callers may hold at once, each and together: connections, bodies of requests, and answers that they do not read. */

const CONNECTIONS = 100;
const PROBE = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
const DATA = '{"data":{"__typename":"Query"}}';

const operation = (secret = SECRET) => postBytes(OPERATION, `router-authorization: ${secret}`);

const start = (overrides: Partial<Config> = {}) =>
  untilEnd(startInSandboxMode({ maxConnections: CONNECTIONS, routerSecrets: [SECRET], ...overrides }));

/** Waits until something came back, or until the connection is closed without an answer. */
async function answered({ socket, received, closed }: Connection): Promise<string> {
  if (!received()) await Promise.race([once(socket, 'data').catch(() => undefined), closed]);
  return received();
}

/** Opens this many connections one after the other, each with a request that is answered before the next one is opened. */
async function openInTurn(url: string, count: number, bytes: string): Promise<Connection[]> {
  const connections: Connection[] = [];
  for (let at = 0; at < count; at += 1) {
    const connection = openUntilEnd(url, bytes);
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
])('a router and a probe are answered while every connection is held by a client that %s', async (_what, bytes) => {
  const app = await start();
  const [router] = await openInTurn(app.url, 1, operation());
  const flood = Array.from({ length: CONNECTIONS * 2 }, () => openUntilEnd(app.url, bytes));
  await Promise.all(flood.slice(0, CONNECTIONS).map(({ closed }) => closed));

  expect(await answered(openUntilEnd(app.url, operation()))).toContain(DATA);
  expect(await answered(openUntilEnd(app.url, PROBE))).toContain('alive');
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
  const connections = Array.from({ length: 95 }, () => openUntilEnd(app.url));
  await Promise.all(connections.slice(0, 5).map(({ closed }) => closed));
  expect(connections.map(isOpen)).toEqual(connections.map((_connection, at) => at >= 5));
  expect(await evictions()).toBe(5);
});

test('a client with a wrong secret or none is closed before a router, and a flood closes no router', async () => {
  const app = await start();
  const routers = await openInTurn(app.url, 50, operation());
  for (const secret of ['a-wrong-secret-of-some-stranger', '']) {
    expect(await answered(openUntilEnd(app.url, operation(secret)))).toContain('401 Unauthorized');
  }
  await openInTurn(app.url, CONNECTIONS, PROBE);
  expect(routers.filter(isOpen)).toHaveLength(50);
});

test('when routers hold every connection, the next one is closed and counted, and let in when another one ends', async () => {
  const app = await start({ maxConnections: 3 });
  const [first] = await openInTurn(app.url, 3, operation());
  expect(await answered(openUntilEnd(app.url, operation()))).toBe('');
  const { value } = await readMetrics(app);
  expect(value('device_trust_requests_refused_total', { code: 'OVERLOADED' })).toBe(1);

  first?.socket.end();
  await expect.poll(() => answered(openUntilEnd(app.url, operation()))).toContain(DATA);
});

type Holding = Awaited<ReturnType<typeof startHolding>>;

/** One eighth of all that there is, which the caller holds until the connection is closed. Is it refused? */
type Take = (
  server: Holding,
  caller: string,
) => Promise<{ readonly isRefused: boolean; readonly connection: Connection }>;

const LARGE = '{"query":"{ wait }"}'.padEnd(8 * MB - 1_000);
const takeBody: Take = async ({ url, underWay }, caller) => {
  const before = underWay.size;
  const connection = openUntilEnd(url, requestOf(caller, LARGE));
  await expect.poll(() => underWay.size > before || connection.received() !== '', POLL).toBe(true);
  return { isRefused: underWay.size === before, connection };
};
const takeAnswer: Take = async ({ url }, caller) => {
  const connection = openUntilEnd(url, requestOf(caller, `{"query":"{ long(length: ${8 * MB - 20}) }"}`));
  await once(connection.socket, 'data');
  connection.socket.pause();
  return { isRefused: statusIn(connection.received()) === 503, connection };
};
const takeConnection: Take = async ({ url }, caller) => {
  const connection = openUntilEnd(url, requestOf(caller, OPERATION));
  return { isRefused: !(await answered(connection)).includes(DATA), connection };
};
const POLL = { interval: 5 };

/** A caller, and how many eighths it gets. */
type Turn = readonly [caller: string, eighths: number];
const turns = (...given: Turn[]) => given;

type Callers = [who: string, secrets: Overrides, expected: Turn[]];
// Connections show them alone, because all three count in the same way, and 64 MB of bodies or of answers take seconds.
const BY_CONNECTIONS: Callers[] = [
  ['services alone', { services: SERVICES }, turns(['orders', 4], ['users', 4], ['desk', 0])],
  ['a router that came first', ROUTER_AND_SERVICES, turns(['router', 4], ['orders', 2])],
  ['no secrets', {}, turns(['anyone', 8])],
];

describe.each<[string, Take, Overrides, Callers[]]>([
  ['bodies of operations under way', takeBody, {}, []],
  ['answers that nobody reads', takeAnswer, {}, []],
  ['connections', takeConnection, { maxConnections: 8 }, BY_CONNECTIONS],
])('%s', (_what, take, options, more) => {
  /** Lets a caller take eighths until one is refused. */
  async function fill(server: Holding, caller: string): Promise<Connection[]> {
    const { isRefused, connection } = await take(server, caller);
    if (!isRefused) return [connection, ...(await fill(server, caller))];
    connection.socket.destroy();
    await connection.closed;
    return [];
  }

  test.each<Callers>([
    [
      'router and services',
      ROUTER_AND_SERVICES,
      turns(['orders', 2], ['users', 2], ['desk', 0], ['router', 4], ['orders', 0]),
    ],
    ...more,
  ])('each caller may hold so many eighths, and all are given back: %s', async (_who, secrets, expected) => {
    const server = await startHolding({ ...options, ...secrets });
    const held: Connection[] = [];
    for (const [caller, eighths] of expected) {
      const own = await fill(server, caller);
      expect(own, caller).toHaveLength(eighths);
      held.push(...own);
    }
    for (const { socket } of held) socket.destroy();
    const [[first, eighths] = ['', 0]] = expected;
    // The server learns of it a little later.
    await expect
      .poll(async () => {
        const own = await fill(server, first);
        for (const { socket } of own) socket.destroy();
        return own.length;
      }, POLL)
      .toBe(eighths);
  });
});

test('the router has each request answered while a service leaves bodies unfinished', async () => {
  const { url } = await startHolding(ROUTER_AND_SERVICES);
  const bytes = requestOf('orders', OPERATION.padEnd(MB)).slice(0, -1);
  const unfinished = Array.from({ length: 20 }, () => openUntilEnd(url, bytes));
  const body = OPERATION.padEnd(2 * MB);
  await expect.poll(() => statusOf(url, 'orders', body), POLL).toBe(503);
  const refused = await sendBytes(url, requestOf('orders', body, 'connection: close'));
  expect(refused).toMatch(/^retry-after: 1\r$/im);
  expect(refused).toContain('{"code":"OVERLOADED","retryable":true}');
  expect(await statusOf(url, 'users')).toBe(200);
  for (let time = 0; time < 60; time += 1) expect(await statusOf(url, 'router')).toBe(200);
  for (const { socket } of unfinished) socket.destroy();
  await expect.poll(() => statusOf(url, 'orders', body), POLL).toBe(200);
});

test('a single request is never too large, whoever sends it and whatever is made of it', async () => {
  const { url } = await startHolding({ ...ROUTER_AND_SERVICES, maxAnswerBytes: 20 * MB });
  const long = `{"query":"{ long(length: ${20 * MB - 20}) }"}`;
  const lists = (bytes: number) => `{"query":"{ __typename }","variables":{"x":[${'[],'.repeat(bytes / 3)}[]]}}`;
  for (const body of [long, lists(0.5 * MB), lists(9 * MB)]) expect(await statusOf(url, 'orders', body)).toBe(200);
  const single = await startHolding({ ...ROUTER_AND_SERVICES, maxConnections: 1 });
  expect(await statusOf(single.url, 'orders')).toBe(200);
});

test('each caller has all that it may hold again after requests that end in every way', async () => {
  const { url, underWay } = await startHolding({ ...ROUTER_AND_SERVICES, maxAnswerBytes: 16 * MB, maxConnections: 80 });
  const bodies = [
    OPERATION,
    '{"query":"{ wait }"}'.padEnd(100_000),
    `{"query":"{ long(length: ${4 * MB}) }"}`,
    `{"query":"{ wait }","variables":{"x":[${'[],'.repeat(10_000)}0]}}`,
    '{"query":"{"}',
    '{"query":',
    ' '.repeat(11 * MB),
  ];
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const ends: Promise<unknown>[] = [];
  for (let round = 0; round < 200; round += 1) {
    const requests = Array.from({ length: 1 + random(3) }, () =>
      requestOf('orders', bodies[random(random(8) ? 6 : 7)] ?? ''),
    ).join('');
    const connection = openUntilEnd(url, random(2) ? requests : requests.slice(0, random(requests.length)));
    const { socket } = connection;
    if (random(2)) socket.pause();
    const end = [
      () => socket.destroy(),
      () => socket.resetAndDestroy(),
      () => void socket.end().setTimeout(20, () => socket.destroy()),
    ];
    ends.push(sleep(random(30)).then(end[random(3)]), connection.closed);
    if (round % 10 === 9) await Promise.all(ends.splice(0));
    if (random(5) === 0) for (const resolve of underWay) resolve();
  }
  // The first two need all that one service may hold.
  const largest = `{"query":"{ __typename }","variables":{"x":[${'[],'.repeat(170_000)}0]}}`;
  await expect.poll(() => statusOf(url, 'orders', largest), POLL).toBe(200);
  await expect.poll(() => statusOf(url, 'orders', `{"query":"{ long(length: ${16 * MB - 20}) }"}`), POLL).toBe(200);
  const answers = async () => {
    // Beyond its last request nothing of a connection is read, so its end is noticed only with the operation.
    for (const resolve of underWay) resolve();
    const connections = await openInTurn(url, 20, requestOf('orders', OPERATION));
    for (const { socket } of connections) socket.destroy();
    return connections.filter(({ received }) => received().includes(DATA)).length;
  };
  // More than once, because the server may still hold the connection of the answer before.
  await expect.poll(answers, POLL).toBe(20);
});
