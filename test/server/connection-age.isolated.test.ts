import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { startInLiveMode } from '../support/app.ts';
import { openConnection } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { OPERATION } from './support.ts';

/** When a connection ends because of its age, by a clock that this process has for itself. */

vi.useFakeTimers({ toFake: ['performance'] });
// A jump of the clock is no overload.
const app = await startInLiveMode('http://127.0.0.1:9', { upstreamCheck: 'off' }, Number.POSITIVE_INFINITY);
afterAll(async () => {
  vi.useRealTimers();
  await app.stop();
});

test('a server without clients stops at once', { timeout: 20_000 }, async () => {
  // What would wait for its clock would not end.
  const idle = await startInLiveMode('http://127.0.0.1:9', { upstreamCheck: 'off' });
  await idle.stop();
});

test('connections close after 4 to 6 minutes, between two requests', async () => {
  const connections = times(40, () => openConnection(app.url));
  /** How many connections end with the next answer, or ended with an earlier one. */
  const ended = async () => {
    const endings = connections.map(async ({ socket, received }) => {
      const before = received().length;
      if (!/^connection: close\r$/im.test(received())) {
        socket.write(OPERATION);
        // Vitest's own poll would move the clock.
        while (!/\}$/.test(received().slice(before))) await setImmediate();
      }
      return /^connection: close\r$/im.test(received());
    });
    return (await Promise.all(endings)).filter((isEnd) => isEnd).length;
  };
  expect(await ended()).toBe(0);
  vi.advanceTimersByTime(239_000);
  expect(await ended()).toBe(0);
  vi.advanceTimersByTime(61_000);
  // Of so many, all or none have ended by chance in one of a trillion runs.
  const afterFiveMinutes = await ended();
  expect(afterFiveMinutes).toBeGreaterThan(0);
  expect(afterFiveMinutes).toBeLessThan(40);
  vi.advanceTimersByTime(61_000);
  expect(await ended()).toBe(40);
});
