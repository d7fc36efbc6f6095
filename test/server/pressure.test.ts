import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type Pressure, watchEventLoop } from '../../src/server/pressure.ts';

/** When work is turned away because the event loop is behind. */

let pressure: Pressure | undefined;
afterEach(() => pressure?.stop());

/** Keeps the event loop from going round. */
function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

/** Goes round the event loop `times` times, each of which takes `ms`. */
async function goRound(times: number, ms: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) {
    await setImmediate();
    block(ms);
  }
  await setImmediate();
  await setImmediate();
}

test('turns that each take longer than allowed are seen, though there is no short one between them', async () => {
  pressure = watchEventLoop(100);
  await goRound(4, 250);
  expect(pressure.isTooHigh()).toBe(true);
});

test('after a long turn the next one is cut short as soon as it is too long itself', async () => {
  pressure = watchEventLoop(100);
  await goRound(1, 250);
  expect(pressure.isTooHigh()).toBe(false);
  block(250);
  expect(pressure.isTooHigh()).toBe(true);
});

test('it ends once the event loop keeps up again', async () => {
  pressure = watchEventLoop(100);
  await goRound(4, 250);
  await expect.poll(() => pressure?.isTooHigh(), { timeout: 2_000 }).toBe(false);
});
