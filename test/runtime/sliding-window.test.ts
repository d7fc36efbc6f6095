import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlidingWindow } from '../../src/runtime/sliding-window.ts';

test('allows so many at once, and the next one when the first is as old as the window', () => {
  const window = new SlidingWindow(2, 60_000);
  expect([0, 1_000, 59_999, 60_000, 60_999, 61_000].map((now) => window.take(now))).toEqual([
    true,
    true,
    false,
    true,
    false,
    true,
  ]);
});

test('a limit of 0 allows nothing', () => {
  const window = new SlidingWindow(0, 1);
  expect([window.take(0), window.take(1_000)]).toEqual([false, false]);
});

test('never allows more than the limit within any stretch of that length', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), steps, (limit, waits) => {
      const window = new SlidingWindow(limit, 100);
      let now = 0;
      const allowed: number[] = [];
      for (const wait of waits) {
        now += wait;
        if (window.take(now)) allowed.push(now);
      }
      for (const end of allowed)
        expect(allowed.filter((at) => at <= end && at > end - 100).length).toBeLessThanOrEqual(limit);
    }),
  );
});
