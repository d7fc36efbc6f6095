import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { answer, type Behaviour, flood, gzipBomb, HUNDRED_MB, hang, head, startHostile } from '../support/hostile.ts';
import { ANDROID } from './documented.ts';
import { askTimed, FINGERPRINT, startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';

/** No upstream may fill the memory of the process, or keep its sockets. */

expectNothingUnhandled();

const MB = 1_000_000;

setFlagsFromString('--expose-gc');
// Sound: with that flag set, every new context has a global function of this name.
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes outside V8's heap, which is where bodies live, and bytes in it once the garbage is gone. */
function measure(): { outside: number; inside: number } {
  collectGarbage();
  const { external, heapUsed } = process.memoryUsage();
  return { outside: external, inside: heapUsed };
}

/** Asks so many questions at once of an upstream that behaves like this, each with a token of its own. */
async function askMany(times: number, behave: Behaviour, code: RegExp, deadlineMs: number): Promise<void> {
  const upstream = await startHostile(behave);
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, deadlineMs);
  onTestFinished(app.stop);
  const answers = await Promise.all(Array.from({ length: times }, () => askTimed(app, FINGERPRINT)));
  const error = { extensions: { code: expect.stringMatching(code) } };
  for (const { errors } of answers) expect(errors).toMatchObject([error]);
  expect(upstream.requests).toBe(times);
  // What broke the rules, or took too long, is not kept for the next call.
  await expect.poll(() => upstream.open, { timeout: 5_000 }).toBe(0);
}

const good = JSON.stringify(ANDROID);
const bomb = answer(200, gzipBomb(good), { 'content-encoding': 'gzip' });
const endless = flood(head(200, { 'content-length': String(HUNDRED_MB) }) + good, ' '.repeat(64 * 1024));

async function attack(): Promise<void> {
  // In turns as well as at once: 30 bombs of 200 MiB and 10 bodies of 100 MB.
  for (let turn = 0; turn < 5; turn += 1) {
    await askMany(6, bomb, /^UPSTREAM_PROTOCOL_ERROR$/, 30_000);
    await askMany(2, endless, /^UPSTREAM_PROTOCOL_ERROR$/, 30_000);
  }
}

test('7 GB of bodies do not make the memory grow', { timeout: 60_000 }, async () => {
  // What is loaded and compiled only once is not a leak.
  await askMany(2, bomb, /^UPSTREAM_PROTOCOL_ERROR$/, 30_000);
  await askMany(2, endless, /^UPSTREAM_PROTOCOL_ERROR$/, 30_000);
  const before = measure();
  let peak = before.outside;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().external);
  }, 2);
  onTestFinished(() => clearInterval(watch));
  await attack();
  const after = measure();
  // One body that is inflated or kept whole takes 100 MB or more.
  expect(peak - before.outside).toBeLessThan(60 * MB);
  expect(after.outside - before.outside + after.inside - before.inside).toBeLessThan(30 * MB);
});

test('calls that hang release their sockets', async () => {
  // It is OVERLOADED if this process, which runs both sides, was too busy to count it as the upstream's fault.
  await askMany(100, hang, /^(UPSTREAM_TIMEOUT|OVERLOADED)$/, 1_500);
});

test('calls that end well keep no more sockets than were needed at once', async () => {
  const upstream = await startHostile(answer(200, good));
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, 30_000);
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: 10 }, () => askTimed(app, FINGERPRINT)));
  }
  expect(upstream.requests).toBe(50);
  expect(upstream.open).toBeLessThanOrEqual(10);
  await app.stop();
  await expect.poll(() => upstream.open).toBe(0);
});
