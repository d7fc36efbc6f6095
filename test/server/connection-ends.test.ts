import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { afterAll, expect, type TestContext, test, vi } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { openConnection } from '../support/requests.ts';

/** Connections end at an age of their own, and no request is lost by that. */

type Context = Pick<TestContext, 'onTestFinished'>;

/** So long that the first answer on a connection comes while it is young, however busy the machine is. */
const AGE_MS = 2_000;
/** After this time every connection is old. */
const OLD_MS = AGE_MS * 1.3;

// All are started before any connection is opened, because that keeps this process busy.
const short = await startInSandboxMode({ maxConnectionAgeMs: 300 });
const app = await startInSandboxMode({ maxConnectionAgeMs: AGE_MS, fingerprintTimeoutMs: 10_000 });
const ageless = await startInSandboxMode({ maxConnectionAgeMs: 0 });
afterAll(() => Promise.all([short, app, ageless].map(({ stop }) => stop())));

/** The bytes of one operation that asks about this token. */
function operation(token: string): string {
  const body = JSON.stringify({ query: FINGERPRINT_QUERY, variables: { token } });
  const head = `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json`;
  return `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** The token of the test with this number, which the sandbox takes for a device after this time. */
const tokenOf = (number: number, delayMs = 0) => `sandbox:delay:${delayMs}:ios#${number}`;

/** Of each response of some bytes: does it end the connection? */
const endsIn = (bytes: string) =>
  bytes
    .split(/(?=HTTP\/1\.1 )/)
    .filter((response) => response !== '')
    .map((response) => /^connection: close\r$/im.test(response));

/** Bare HTTP on one connection. `send` waits for one more response, and says whether it ends the connection. */
function open({ onTestFinished }: Context, url: string) {
  const connection = openConnection(url);
  onTestFinished(() => void connection.socket.destroy());
  const send = async (bytes: string) => {
    const before = endsIn(connection.received()).length;
    connection.socket.write(bytes);
    const isWhole = () => /\}\s*$/.test(connection.received());
    await vi.waitUntil(() => isWhole() && endsIn(connection.received()).length === before + 1, {
      timeout: 10_000,
      interval: 5,
    });
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
      const body = JSON.stringify({ query: FINGERPRINT_QUERY, variables: { token: tokenOf(asked, asked % 40) } });
      const headers = { 'content-type': 'application/json' };
      const response = await pool.request({ method: 'POST', path: '/graphql', headers, body });
      // Sound: this is what the query selects.
      const { data } = (await response.body.json()) as { data: { deviceFingerprint: { __typename: string } } };
      expect([response.statusCode, data.deviceFingerprint.__typename]).toEqual([200, 'DeviceFingerprint']);
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  expect(asked).toBeGreaterThan(opened);
});

test.concurrent('what follows the request whose response ends the connection is not processed, so that it can be sent again', async (context) => {
  const connection = open(context, app.url);
  expect(await connection.send(operation(tokenOf(0)))).toBe(false);
  await sleep(OLD_MS);
  const unprocessed = '{"query":"query Unprocessed { __typename }"}';
  const head = `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${unprocessed.length}`;
  connection.socket.write(`${operation(tokenOf(1, 50))}${head}\r\n\r\n${unprocessed}`);
  const text = await connection.closed;
  expect(endsIn(text)).toEqual([false, true]);
  expect(text.match(/"DeviceFingerprint"/g)).toHaveLength(2);
  expect(app.logged()).not.toContain('Unprocessed');
});

test.concurrent('an answer that waited for another one leaves no time limit behind for the next request', async () => {
  const connection = openConnection(ageless.url, operation(tokenOf(1, 2_500)) + operation(''));
  await sleep(2_300);
  connection.socket.write(operation(tokenOf(2, 2_500)));
  await vi.waitUntil(() => connection.received().split('HTTP/1.1 200').length - 1 === 3, { timeout: 10_000 });
  connection.socket.destroy();
});

test.concurrent('a client may send 32 requests without waiting for an answer; more of them close the connection', async () => {
  const answers = (text: string) => text.split('HTTP/1.1 ').length - 1;
  const probe = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
  const connection = openConnection(ageless.url, probe.repeat(32));
  await vi.waitUntil(() => answers(connection.received()) === 32);
  // They are over, so it can send as many again.
  connection.socket.write(probe.repeat(32));
  await vi.waitUntil(() => answers(connection.received()) === 64);
  connection.socket.write(probe.repeat(100));
  expect(answers(await connection.closed)).toBeLessThan(64 + 34);
});

test.concurrent('an operation that is under way when its connection gets old is answered', async (context) => {
  const connection = open(context, app.url);
  // It came while the connection was young, so its response does not end it, and the next one does.
  expect(await connection.send(operation(tokenOf(1, OLD_MS)))).toBe(false);
  expect(await connection.send(operation(tokenOf(2)))).toBe(true);
  await connection.closed;
});

test.concurrent('an old connection that is idle stays open until its next response', async (context) => {
  const connection = open(context, app.url);
  expect(await connection.send(operation(tokenOf(1)))).toBe(false);
  await sleep(OLD_MS);
  expect(connection.socket.closed).toBe(false);
  expect(connection.received()).toMatch(/^keep-alive: timeout=75\r$/im);
  expect(await connection.send(operation(tokenOf(2)))).toBe(true);
  await connection.closed;
});

test.concurrent('with 0 no connection gets old', async (context) => {
  const connection = open(context, ageless.url);
  for (let number = 0; number < 20; number += 1) expect(await connection.send(operation(tokenOf(number)))).toBe(false);
});

// Last and by itself, because it keeps this process busy as well.
test('the age differs by up to a fifth, so that connections that were opened together end apart', async (context) => {
  const connections = Array.from({ length: 30 }, () => open(context, app.url));
  await Promise.all(connections.map(({ send }) => send(operation(''))));
  // Two fifths of the ages are over by then, so that all are equal by chance in one of a million runs. A process that is late
  // has half a second until all are.
  await sleep(AGE_MS * 0.95);
  const ends = await Promise.all(connections.map(({ send }) => send(operation(''))));
  expect(new Set(ends)).toEqual(new Set([true, false]));
});
