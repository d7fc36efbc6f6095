import { expect, onTestFinished, test } from 'vitest';
import { collectGarbage } from '../support/garbage.ts';
import { type Behaviour, flood, type Hostile, HUNDRED_MB, hang, head } from '../support/hostile.ts';
import { KEPT_OPEN } from './documented.ts';
import { crowd, expectError, expectGood, FINGERPRINT, good, SERVICES, startBoth } from './support.ts';

/** No upstream fills the memory of the process, and no load leaves anything behind. */

const MB = 1_000_000;

/** Bytes outside V8's heap, which is where bodies live, and bytes in it once the garbage is gone. */
function measure(): { outside: number; inside: number } {
  collectGarbage();
  const { external, heapUsed } = process.memoryUsage();
  return { outside: external, inside: heapUsed };
}

const endless = flood(
  head(200, { ...KEPT_OPEN, 'content-length': String(HUNDRED_MB) }) + FINGERPRINT.good,
  ' '.repeat(64 * 1024),
);

/** Asks so many questions at once of an upstream that behaves like this. */
async function askMany(times: number, behave: Behaviour): Promise<Hostile> {
  const { upstream, app } = await startBoth({ onTestFinished }, behave, 30_000);
  for (const answered of await crowd(app, FINGERPRINT, times)) expectError(answered, 'UPSTREAM_PROTOCOL_ERROR');
  expect(upstream.requests).toBe(times);
  return upstream;
}

/** Twelve bodies of 100 MB, six at a time. */
async function attack(): Promise<void> {
  await askMany(6, endless);
  const upstream = await askMany(6, endless);
  // What is not read to its end is not kept for the next call.
  await expect.poll(() => upstream.open, { timeout: 9_000 }).toBe(0);
}

test('more than 1 GB of bodies does not make the memory grow', async () => {
  // What is loaded and compiled only once is not a leak.
  await attack();
  const before = measure();
  let peak = before.outside;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().external);
  }, 2);
  onTestFinished(() => clearInterval(watch));
  await attack();
  const after = measure();
  // One body that is kept whole takes 100 MB.
  expect(peak - before.outside).toBeLessThan(60 * MB);
  expect(after.outside - before.outside + after.inside - before.inside).toBeLessThan(30 * MB);
});

test('a thousand answers leave nothing in the heap', async () => {
  const { upstream, app } = await startBoth({ onTestFinished }, hang, 30_000);
  const rounds = async (count: number) => {
    for (const [, question] of SERVICES) {
      upstream.behave(good(question));
      for (let round = 0; round < count; round += 1)
        for (const answered of await crowd(app, question, 20)) expectGood(question, answered);
    }
    return { inside: measure().inside, log: app.logged().length };
  };
  await rounds(10);
  const before = await rounds(1);
  const after = await rounds(25);
  // The log of the app is kept as well. A request, an answer or a context that stays takes more than 1.5 KB.
  const grown = after.inside - before.inside - (after.log - before.log);
  expect(grown).toBeLessThan(1_500 * 1_000);
});
