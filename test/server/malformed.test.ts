import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { RequestRefused, sendRefusal } from '../../src/server/http.ts';
import { Listener } from '../../src/server/listener.ts';
import { readMetrics } from '../observability/exposition.ts';
import { openConnection, sendBytes } from '../support/requests.ts';
import { expectRawRefusal, OPERATION, startWithoutUpstreams } from './support.ts';

/** Callers that break the rules of HTTP, or are slow. */

const app = await startWithoutUpstreams();
afterAll(() => app.stop());

test.each([
  ['no HTTP at all', 'hello canary-7f3a\r\n\r\n', 400],
  ['a header that is none', 'GET /healthz HTTP/1.1\r\nhost: x\r\ncanary-7f3a\r\n\r\n', 400],
  ['headers without end', `GET /healthz HTTP/1.1\r\nhost: x\r\nx-a: ${'canary-7f3a'.repeat(4_000)}\r\n\r\n`, 431],
  ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
  ['256 headers', `GET /healthz HTTP/1.1\r\nhost: x\r\n${'a:canary-7f3a\r\n'.repeat(255)}\r\n`, 431],
  ['two lengths', 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
])('%s is refused with the body of every refusal, and counted', async (_what, bytes, status) => {
  const refusals = async () =>
    (await readMetrics(app)).value('device_trust_requests_refused_total', { code: 'BAD_REQUEST' });
  const before = await refusals();
  const answer = await sendBytes(app.url, bytes);
  expectRawRefusal(answer, status);
  expect(await refusals()).toBe((before ?? 0) + 1);
  expect(answer + app.logged()).not.toContain('canary-7f3a');
});

test('what follows a complete answer on a kept connection is refused with the same body', async () => {
  const { socket, closed } = openConnection(app.url, OPERATION);
  await once(socket, 'data');
  socket.write('hello\r\n\r\n');
  const answers = await closed;
  expectRawRefusal(answers.slice(answers.lastIndexOf('HTTP/1.1')), 400);
});

describe.concurrent('deadlines that nobody can configure', () => {
  const HEADERS = 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
  test.for([
    ['headers', app.url, `${HEADERS}x-slow: `],
    ['a body', app.url, `${HEADERS}content-length: 9999\r\n\r\n`],
    ['headers for the operator', app.metricsUrl, 'GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: '],
  ] as const)('a connection on which %s arrive slowly is closed after 10 s', async ([_what, url, first]) => {
    const start = performance.now();
    const { socket, closed } = openConnection(url, first);
    const timer = setInterval(() => socket.writable && socket.write(' '), 500);
    expectRawRefusal(await closed, 408);
    clearInterval(timer);
    const ms = performance.now() - start;
    expect(ms).toBeGreaterThan(9_500);
    expect(ms).toBeLessThan(16_000);
  });

  test('a request that was refused for its slow body is not executed when the rest comes', async () => {
    const body = '{"query":"query TooLate { __typename }"}';
    const { socket, closed } = openConnection(
      app.url,
      `${HEADERS}content-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
    );
    await once(socket, 'data');
    socket.write('}');
    expectRawRefusal(await closed, 408);
    expect(app.logged()).not.toContain('TooLate');
  });

  test.for([
    ['sent no HTTP', 'hello\r\n\r\n', 400],
    ['has its last response', 'GET / HTTP/1.0\r\n\r\n', 431],
  ] as const)('a client that %s and keeps its side open is disconnected', async ([_what, bytes, status], context) => {
    const refused = new RequestRefused(431, 'Refused.');
    const handle = (_request: IncomingMessage, response: ServerResponse) => sendRefusal(response, refused);
    const listener = new Listener({ maxConnections: 9, handle });
    const { hostname, port } = new URL(await listener.listen('127.0.0.1', 0));
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    context.onTestFinished(() => void socket.destroy());
    let received = '';
    socket.setEncoding('utf8').on('data', (part) => {
      received += part;
    });
    socket.on('error', () => {}).write(bytes);
    await new Promise((resolve) => socket.once('end', resolve));
    expectRawRefusal(received, status);
    const start = performance.now();
    await listener.close(10_000);
    expect(performance.now() - start).toBeLessThan(8_000);
  });
});
