import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { type EventLoopMonitor, startEventLoopMonitor } from '../../src/runtime/event-loop.ts';

/** How late the event loop runs, and when that is too late. */

/** One turn of this length is a delay above the limit of 200 ms, wherever in a window it begins. */
const LONG_MS = 400;

let monitor: EventLoopMonitor;
const start = (maxDelayMs?: number) => {
  monitor = startEventLoopMonitor(maxDelayMs);
  monitor.watch();
  return monitor;
};
afterEach(() => monitor.stop());

/** Keeps the event loop busy with one long turn. */
function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

/** Makes the event loop turn `times` times, each of which takes `ms`. */
async function turn(times: number, ms: number): Promise<void> {
  for (let done = 0; done < times; done += 1) {
    await setImmediate();
    block(ms);
  }
  await setImmediate();
  await setImmediate();
}

test('overload is reported when two turns take too long, with a short one between them', async () => {
  start();
  const work = async () => {
    await turn(1, LONG_MS);
    await setTimeout(30);
    await turn(1, LONG_MS);
  };
  // More than once, because on a busy machine a short pause becomes long.
  await expect.poll(() => work().then(monitor.isOverloaded)).toBe(true);
});

test('overload is not reported after one long turn, but during the next one as soon as that takes too long itself', async () => {
  await expect
    .poll(async () => {
      start();
      await turn(1, LONG_MS);
      const afterOne = monitor.isOverloaded();
      block(LONG_MS);
      const duringNext = monitor.isOverloaded();
      monitor.stop();
      return { afterOne, duringNext };
    })
    .toEqual({ afterOne: false, duringNext: true });
});

/** Requests that begin and end within one turn, which they make this long. */
async function requestsInOneTurn(ms: number): Promise<void> {
  await setTimeout(1);
  for (const end = performance.now() + ms; performance.now() < end; block(ms / 10)) monitor.watch()();
}

test('overload is reported when requests make two turns too long, although each request ends within its turn', async () => {
  monitor = startEventLoopMonitor();
  const work = async () => {
    await requestsInOneTurn(LONG_MS);
    await requestsInOneTurn(LONG_MS);
  };
  await expect.poll(() => work().then(monitor.isOverloaded)).toBe(true);
});

/** The fake clock goes on by this much, and then the timer ticks. */
async function tickAfter(elapsedMs: number): Promise<void> {
  vi.advanceTimersByTime(elapsedMs);
  await setTimeout(30);
}

test.each([10, 30, 80, LONG_MS])('overload ends although requests that are refused come every %i ms', async (ms) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  monitor = startEventLoopMonitor();
  const unwatch = monitor.watch();
  for (const delayMs of [LONG_MS, LONG_MS]) await tickAfter(delayMs);
  unwatch();
  expect(monitor.isOverloaded()).toBe(true);
  for (let at = 0; at < 200; at += ms) {
    monitor.watch()();
    await tickAfter(ms);
  }
  monitor.watch();
  expect(monitor.isOverloaded()).toBe(false);
});

test('overload is not reported if windows are too long by less than the limit, although their ticks were late by more', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  start();
  // Windows of 245 ms instead of 50, in which the ticks are late by 25 and 180 ms, 205 together.
  for (const elapsedMs of [45, 200, 45, 200, 45, 200]) await tickAfter(elapsedMs);
  expect(monitor.isOverloaded()).toBe(false);
});

test('overload is not reported while the event loop is idle, even with a limit below one tick', async () => {
  start(8);
  await expect
    .poll(async () => {
      const overloaded: boolean[] = [];
      for (let look = 0; look < 12; look += 1) {
        await setTimeout(10);
        overloaded.push(monitor.isOverloaded());
      }
      return overloaded.includes(true);
    })
    .toBe(false);
});

test('the total lag grows by what a turn takes beyond 20 ms, while it still goes on and after it', async () => {
  start();
  await setTimeout(50);
  const before = monitor.totalLagMs();
  block(300);
  expect(monitor.totalLagMs() - before).toBeGreaterThanOrEqual(279);
  await turn(2, 0);
  expect(monitor.totalLagMs() - before).toBeGreaterThanOrEqual(279);
});
