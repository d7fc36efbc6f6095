import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { afterAll, expect, type TestContext, test, vi } from 'vitest';
import { send as answer } from '../../src/server/http.ts';
import { Listener } from '../../src/server/listener.ts';
import { startInSandboxMode } from '../support/app.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { openConnection, postBytes } from '../support/requests.ts';
import { times } from '../support/times.ts';

/** Connections end at an age of their own, and no request is lost by that. */

type Context = Pick<TestContext, 'onTestFinished'>;

/** Waits for what is bound to happen. */
const until = (happened: () => boolean) => vi.waitUntil(happened, { timeout: 60_000, interval: 5 });

/** So long that the first answer on a connection comes while it is young, however busy the machine is. */
const AGE_MS = 2_000;
/** After this time every connection is old. */
const OLD_MS = AGE_MS * 1.3;

/** A server whose connections get this old. It answers a path such as `/50` after 50 ms. */
async function startListener(maxConnectionAgeMs: number) {
  const handled: string[] = [];
  const listener = new Listener({
    maxConnections: 100,
    maxConnectionAgeMs,
    handle: ({ url = '' }, response) => {
      handled.push(url);
      setTimeout(() => answer(response, 200, {}, '{}'), Number(url.slice(1)));
    },
  });
  return { url: await listener.listen('127.0.0.1', 0), handled, stop: (graceMs = 0) => listener.close(graceMs) };
}

const [short, server] = await Promise.all([startListener(300), startListener(AGE_MS)]);
const app = await startInSandboxMode({ fingerprintTimeoutMs: 10_000 });
afterAll(() => Promise.all([short, server, app].map(({ stop }) => stop())));

/** The bytes of a request that is answered after this time, in ms. */
const requestOf = (delayMs = 0) => `GET /${delayMs} HTTP/1.1\r\nhost: x\r\n\r\n`;

/** The bytes of one operation that asks about this token. */
const operation = (token: string) => postBytes(JSON.stringify({ query: FINGERPRINT_QUERY, variables: { token } }));

/** Of each response of some bytes: does it end the connection? */
const endsIn = (bytes: string) =>
  bytes
    .split(/(?=HTTP\/1\.1 )/)
    .filter((response) => response !== '')
    .map((response) => /^connection: close\r$/im.test(response));

/** Bare HTTP on one connection. `send` waits for one more response, and says whether it ends the connection. */
function open({ onTestFinished }: Context) {
  const connection = openConnection(server.url);
  onTestFinished(() => void connection.socket.destroy());
  const send = async (bytes: string) => {
    const before = endsIn(connection.received()).length;
    connection.socket.write(bytes);
    const isWhole = () => /\}\s*$/.test(connection.received());
    await until(() => isWhole() && endsIn(connection.received()).length === before + 1);
    return endsIn(connection.received()).at(-1);
  };
  return { ...connection, send };
}

// First and by itself, because it keeps this process busy.
test('a client that keeps its connections loses no request when they end, and opens others', async (context) => {
  const pool = new Pool(short.url, { connections: 16, pipelining: 1 });
  context.onTestFinished(() => pool.destroy());
  let opened = 0;
  pool.on('connect', () => {
    opened += 1;
  });
  let asked = 0;
  const lane = async () => {
    while (opened < 16 * 4) {
      asked += 1;
      const response = await pool.request({ method: 'POST', path: `/${asked % 40}` });
      expect([response.statusCode, await response.body.text()]).toEqual([200, '{}']);
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  expect(asked).toBeGreaterThan(opened);
});

/** The first request of a client, to a server with whose response its connection ends. The test answers. */
async function startLast({ onTestFinished }: Context, bytes: string) {
  const held: ServerResponse[] = [];
  const handle = (_request: IncomingMessage, response: ServerResponse) => void held.push(response);
  const listener = new Listener({ maxConnections: 9, maxConnectionAgeMs: 0, handle });
  onTestFinished(() => listener.close(0));
  const connection = openConnection(await listener.listen('127.0.0.1', 0), bytes);
  onTestFinished(() => void connection.socket.destroy());
  const response = await vi.waitUntil(() => held[0], { timeout: 60_000 });
  return { ...connection, held, response };
}

test.concurrent.for([
  ['a last request', ''],
  ['one that asks for an upgrade', 'connection: upgrade\r\nupgrade: websocket\r\n'],
] as const)(
  'of what follows %s at most 192 KiB are read and nothing is executed, so that it can be sent again',
  async ([_what, headers], context) => {
    const first = `GET / HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;
    const { socket, held, response, closed } = await startLast(context, first + requestOf().repeat(500_000));
    const { socket: ours } = response.req;
    // While it waits for its answer the client sends as much as it can.
    await sleep(500);
    answer(response, 200, {}, '{}');
    expect(endsIn(await closed)).toEqual([true]);
    expect(held).toHaveLength(1);
    expect(ours.bytesRead).toBeLessThanOrEqual(3 * 65_536);
    expect(socket.bytesWritten).toBeGreaterThan(1_000_000);
  },
);

test.concurrent('the last response arrives whole although more has been sent than is read', async (context) => {
  const { socket, response, closed, received } = await startLast(context, requestOf().repeat(50_000));
  socket.pause();
  const text = 'x'.repeat(1_000_000);
  answer(response, 200, {}, text);
  await sleep(300);
  socket.resume();
  await closed;
  expect(received().endsWith(`\r\n\r\n${text}`)).toBe(true);
});

test.concurrent('a client that disconnects is noticed although it has sent more than its last request', async (context) => {
  const { socket, response } = await startLast(context, requestOf().repeat(2));
  const start = performance.now();
  socket.destroy();
  await once(response, 'close');
  // Sooner than any time limit would close it.
  expect(performance.now() - start).toBeLessThan(8_000);
});

test.concurrent.each([
  ['HTTP/1.1 that asks for the end', 'HTTP/1.1', 'close'],
  ['HTTP/1.0 with Transfer-Encoding (RFC 9112, section 6.1)', 'HTTP/1.0', 'keep-alive'],
])('a request of %s is the last of its connection', async (_what, version, option) => {
  const head = `POST /50 ${version}\r\nhost: x\r\nconnection: ${option}\r\ntransfer-encoding: chunked\r\n\r\n`;
  const { closed } = openConnection(server.url, `${head}0\r\n\r\n${requestOf(53)}`);
  expect(endsIn(await closed)).toEqual([true]);
  expect(server.handled).not.toContain('/53');
});

test.concurrent('an answer that waited for another one leaves no time limit behind for the next request', async () => {
  const connection = openConnection(app.url, operation('sandbox:delay:2500:ios') + operation(''));
  await sleep(2_300);
  connection.socket.write(operation('sandbox:delay:2500:ios'));
  await until(() => connection.received().split('HTTP/1.1 200').length - 1 === 3);
  connection.socket.destroy();
});

/** A listener that answers nothing by itself. */
async function holdRequests({ onTestFinished }: Context) {
  const held: ServerResponse[] = [];
  const handle = (_request: IncomingMessage, response: ServerResponse) => void held.push(response);
  const listener = new Listener({ maxConnections: 9, handle });
  onTestFinished(() => listener.close(0));
  return { held, url: await listener.listen('127.0.0.1', 0) };
}

test.concurrent('a client may send 32 requests without waiting for an answer, and each answer makes room for one more', async (context) => {
  const { held, url } = await holdRequests(context);
  const { socket, received, closed } = openConnection(url);
  // One is answered, and 32 wait.
  socket.write(requestOf().repeat(33));
  await until(() => held.length === 33);
  for (const response of held.slice(0, 3)) answer(response, 200, {}, '{}');
  await until(() => endsIn(received()).length === 3);
  socket.write(requestOf().repeat(2));
  await until(() => held.length === 35);
  // Node answers requests that expect something, unless somebody else does.
  socket.write(requestOf().replace('host: x', 'host: x\r\nexpect: anything').repeat(10));
  await closed;
  expect(held.length).toBeLessThan(35 + 2);
});

test.concurrent('requests with heads of more than 32 KiB together that wait for an answer end their connection', async (context) => {
  const { held, url } = await holdRequests(context);
  const { socket, closed } = openConnection(url);
  // The first one does not wait.
  const large = requestOf().replace('host: x', `host: x\r\ncookie: ${'x'.repeat(15_000)}`);
  socket.write(large.repeat(3));
  await until(() => held.length === 3);
  socket.write(large);
  await closed;
  expect(held).toHaveLength(3);
});

test.concurrent('a request that is under way when its connection gets old is answered, and an idle one ends with its next response', async (context) => {
  const [busy, idle] = [open(context), open(context)];
  // They came while their connections were young.
  expect(await Promise.all([busy.send(requestOf(OLD_MS)), idle.send(requestOf())])).toEqual([false, false]);
  await sleep(OLD_MS);
  expect(idle.socket.closed).toBe(false);
  expect(idle.received()).toMatch(/^keep-alive: timeout=75\r$/im);
  for (const { send, closed } of [busy, idle]) {
    expect(await send(requestOf())).toBe(true);
    await closed;
  }
});

test('a request on a connection that waits to be accepted when the server stops is answered', async () => {
  const listener = await startListener(60_000);
  const { closed } = openConnection(listener.url, requestOf());
  // The system accepts the connection from now on, and the server in the next turn.
  await new Promise(process.nextTick);
  await listener.stop(60_000);
  expect(endsIn(await closed)).toEqual([true]);
});

test('connections that stay idle end a second after a stop, although requests arrive on others', async () => {
  const listener = await startListener(60_000);
  const connections = times(80, () => openConnection(listener.url, requestOf()));
  await until(() => connections.every(({ received }) => endsIn(received()).length === 1));
  let [sent, isStopped] = [0, false];
  const stopped = listener.stop(60_000).then(() => {
    isStopped = true;
  });
  for (const { socket } of connections) {
    if (isStopped) break;
    socket.write(requestOf());
    sent += 1;
    await sleep(25);
  }
  await stopped;
  expect(sent).toBeLessThan(80);
});

test('a request is answered that comes on an idle connection after a pause of a stop in which others arrived', async () => {
  const listener = await startListener(60_000);
  const [first, second] = times(2, () => openConnection(listener.url, requestOf()));
  await until(() => [first, second].every((one) => endsIn(one?.received() ?? '').length === 1));
  const stopped = listener.stop(60_000);
  // The port is closed.
  for (const _turn of times(5, Number)) await setImmediate();
  first?.socket.write(requestOf());
  await sleep(200);
  second?.socket.write(requestOf());
  expect(endsIn((await second?.closed) ?? '')).toEqual([false, true]);
  await stopped;
});

test('a request that arrives during a stop while the process waits for a core is answered', async () => {
  const listener = await startListener(60_000);
  const connection = openConnection(listener.url, requestOf());
  await until(() => endsIn(connection.received()).length === 1);
  const stopped = listener.stop(60_000);
  // The port is closed, and the idle connection is still open.
  for (const _turn of times(5, Number)) await setImmediate();
  connection.socket.write(requestOf());
  for (const end = performance.now() + 200; performance.now() < end; );
  expect(endsIn(await connection.closed)).toEqual([false, true]);
  await stopped;
});
