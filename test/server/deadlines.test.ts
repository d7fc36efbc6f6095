import { connect } from 'node:net';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { answer, answersProbes } from '../support/hostile.ts';
import { openConnection } from '../support/requests.ts';
import { expectRawRefusal, HEALTHY, healthOf, startChecking, UNREADY } from './support.ts';

/** What has to happen within seconds that nobody can configure. All of it is waited for at the same time. */

const app = await startInSandboxMode();
afterAll(app.stop);

/** Opens a connection with these bytes; gives everything that came back until the server closed it, and when. */
async function untilClosed(url: string, bytes: string, again = '') {
  const start = performance.now();
  const { socket, closed } = openConnection(url, bytes);
  const timer = setInterval(() => again && socket.writable && socket.write(again), 500);
  const received = await closed;
  clearInterval(timer);
  return { received, ms: performance.now() - start };
}

const PROBE = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
const POST = 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

describe.concurrent('deadlines', () => {
  test('at the port of the operator a connection is closed when it was idle for 5 s', async () => {
    const { received, ms } = await untilClosed(app.metricsUrl, PROBE);
    expect(received).toContain('alive');
    expect(ms).toBeGreaterThan(4_900);
    expect(ms).toBeLessThan(9_000);
  });

  test.for([
    ['headers', app.url, `${POST}x-slow: `, 'a'],
    ['a body', app.url, `${POST}content-length: 9999\r\n\r\n`, ' '],
    ['headers for the operator', app.metricsUrl, 'GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ', 'a'],
  ] as const)('a connection on which %s arrive slowly is closed after 10 s', async ([_what, url, first, again]) => {
    const { received, ms } = await untilClosed(url, first, again);
    expectRawRefusal(received, 408);
    expect(ms).toBeGreaterThan(9_500);
    expect(ms).toBeLessThan(16_000);
  });

  test('a client that sent no HTTP and keeps its side open is disconnected', async ({ onTestFinished }) => {
    const { hostname, port } = new URL(app.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    let received = '';
    socket.setEncoding('utf8').on('data', (part) => {
      received += part;
    });
    socket.on('error', () => {}).write('hello\r\n\r\n');
    await new Promise((resolve) => socket.once('end', resolve));
    expectRawRefusal(received, 400);
    // What it sends now arrives nowhere: the server's side is gone, and this one is reset.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const timer = setInterval(() => socket.write('x'), 2_500);
    await closed;
    clearInterval(timer);
  });

  // A refused account is asked again after 10 s.
  test('a process is alive but not ready while its accounts are refused, and ready once they work', async (context) => {
    const { app: refused, upstreamIs } = await startChecking(context, answer(403, ''), { upstreamCheckGraceMs: 3_000 });
    const urls = [refused.url, refused.metricsUrl];
    await vi.waitUntil(async () =>
      (await fetch(refused.metricsUrl).then((it) => it.text())).includes('state="refused"'),
    );
    // The time of grace is for outages: this one goes by. Before it is over, even a busy process has asked all accounts.
    await new Promise((resolve) => setTimeout(resolve, 3_200));
    for (const url of urls) expect(await healthOf(url)).toEqual(UNREADY);
    upstreamIs.behave = answersProbes;
    await vi.waitUntil(async () => (await healthOf(refused.url))[1]?.[0] === 200, { timeout: 25_000 });
    for (const url of urls) expect(await healthOf(url)).toEqual(HEALTHY);
  });
});
