import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { startInSandboxMode } from '../support/app.ts';
import { openConnection } from '../support/requests.ts';

/** How many connections callers may have. */

const CONNECTIONS = 3;

test('one connection more than there may be is closed at once, counted, and let in when another one ends', async () => {
  const app = await startInSandboxMode({ maxConnections: CONNECTIONS });
  onTestFinished(app.stop);
  const open = async () => {
    const connection = openConnection(app.url, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    onTestFinished(() => void connection.socket.destroy());
    // A connection that is refused is closed, or reset, without an answer.
    const answer = await Promise.race([once(connection.socket, 'data').catch(() => undefined), connection.closed]);
    return { socket: connection.socket, answers: Boolean(answer?.length) };
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
