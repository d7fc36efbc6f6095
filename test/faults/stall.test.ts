import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import type { TestApp } from '../support/app.ts';
import { hang } from '../support/hostile.ts';
import {
  ACCOUNTS,
  askTimed,
  CAPTCHA,
  expectOverloaded,
  FINGERPRINT,
  pause,
  startAgainst,
  startBoth,
  verify,
} from './support.ts';
import type { ThreadData } from './upstream-thread.ts';

/** A process that is too busy to read its sockets: what it did not read in time is its own fault, and not a captcha outcome. */

const DEADLINE_MS = 1_200;
/**
 * Keeps the whole process busy, as an operation that costs too much would: in a turn after which timers come before sockets.
 * It lasts at least this long, and until a thread has done what it was begun with.
 */
const block = (ms: number, begin = () => {}, isDone = () => true) =>
  new Promise<void>((resolve) => {
    setImmediate(() => {
      begin();
      const start = performance.now();
      const elapsed = () => performance.now() - start;
      while (elapsed() < ms || (!isDone() && elapsed() < 60_000));
      resolve();
    });
  });

/** An app before an upstream that never answers. */
const start = () => startBoth({ onTestFinished }, hang, DEADLINE_MS);

/** A captcha service as a thread, and an app before it; every message of the thread goes to the list. */
async function startThread(isDown: boolean) {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const workerData: ThreadData = { isDown, answered };
  const upstream = new Worker(new URL('./upstream-thread.ts', import.meta.url), { workerData });
  onTestFinished(async () => void (await upstream.terminate()));
  const messages: string[] = [];
  upstream.on('message', (message) => messages.push(message));
  await expect.poll(() => messages.length).toBe(1);
  const app = await startAgainst({ url: messages.shift() ?? '' }, DEADLINE_MS, { upstreamCheck: 'all' });
  onTestFinished(app.stop);
  messages.length = 0;
  // What is sent while this process is busy cannot be read before.
  const blockUntilAnswered = () =>
    block(
      DEADLINE_MS * 1.5,
      () => upstream.postMessage('answer'),
      () => Atomics.load(answered, 0) === 1,
    );
  return { app, messages, blockUntilAnswered };
}

const probesOf = async (app: TestApp, result: string) =>
  (await readMetrics(app)).value('device_trust_upstream_probes_total', { service: 'captcha', region: 'GLB', result });

describe('a deadline that passes while the process was busy', () => {
  test('is OVERLOADED, and not a captcha that proceeds', async () => {
    const { upstream, app } = await start();
    const asked = [askTimed(app, CAPTCHA), askTimed(app, FINGERPRINT)] as const;
    await expect.poll(() => upstream.requests).toBe(2);
    await block(DEADLINE_MS * 1.5);
    expectOverloaded(CAPTCHA, await asked[0]);
    expectOverloaded(FINGERPRINT, await asked[1]);
  });

  test('confirms no outage', async () => {
    const deadline = 1_500;
    const { upstream, app } = await startBoth({ onTestFinished }, hang, deadline, { upstreamCheck: 'all' });
    let probes = 0;
    upstream.behave(hang, ({ request }) => {
      if (request.includes(ACCOUNTS.GLB.captchaId)) probes += 1;
    });
    const asked = askTimed(app, CAPTCHA);
    // Two that fail confirm an outage.
    await expect.poll(() => probes, { interval: 5 }).toBeGreaterThanOrEqual(2);
    await block(deadline * 1.2);
    expectOverloaded(CAPTCHA, await asked);
    await expect.poll(() => probesOf(app, 'own_failure')).toBeGreaterThan(1);
    expect(app.logged()).not.toContain('"health":"outage"');
  });

  test('does not count if the answer has arrived meanwhile', async () => {
    const { app, messages, blockUntilAnswered } = await startThread(false);
    const captcha = verify(app);
    await expect.poll(() => messages, { interval: 5 }).toContain('asked');
    // Beyond half of the deadline, so that the next timer of the call is the one that ends it.
    await pause(DEADLINE_MS / 2 + 20);
    // The answer comes meanwhile, and waits in the socket when the deadline is found to have passed.
    await blockUntilAnswered();
    expect(await captcha).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
  });

  test('is no failure of a probe whose answer has arrived meanwhile', async () => {
    const { app, messages, blockUntilAnswered } = await startThread(true);
    const captcha = verify(app);
    await expect.poll(() => messages, { interval: 5 }).toContain('probed');
    await blockUntilAnswered();
    expect((await captcha).proceed ?? false).toBe(false);
    // Each of the three ids of the region had one at the start.
    await expect.poll(() => probesOf(app, 'well')).toBeGreaterThan(3);
    expect([await probesOf(app, 'failed'), await probesOf(app, 'own_failure')]).toEqual([undefined, undefined]);
  });
});
