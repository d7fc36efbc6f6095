import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { startInSandboxMode } from '../support/app.ts';

/** How many connections callers may have. */

const CONNECTIONS = 3;

test('one connection more than there may be is closed at once, counted, and let in when another one ends', async () => {
  const app = await startInSandboxMode({ maxConnections: CONNECTIONS });
  onTestFinished(app.stop);
  const { port } = new URL(app.url);
  const open = async (): Promise<{ socket: Socket; answers: boolean }> => {
    const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
    onTestFinished(() => void socket.destroy());
    const answers = new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true)).once('close', () => resolve(false));
      // A connection that is closed at once may be reset instead.
      socket.on('error', () => resolve(false));
    });
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    return { socket, answers: await answers };
  };
  const [first, ...others] = [await open(), await open(), await open(), await open()];
  expect([first, ...others].map(({ answers }) => answers)).toEqual([true, true, true, false]);
  const refusals = async () =>
    (await readMetrics(app)).samples
      .filter(({ name, value }) => name === 'device_trust_requests_refused_total' && value > 0)
      .map(({ labels, value }) => [labels['code'], value]);
  expect(await refusals()).toEqual([['OVERLOADED', 1]]);

  first?.socket.end();
  await expect.poll(async () => (await open()).answers).toBe(true);
});
