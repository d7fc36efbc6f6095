import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hang } from '../support/hostile.ts';
import { askTimed, CAPTCHA, expectOverloaded, FINGERPRINT, pause, startAgainst, startBoth, verify } from './support.ts';

/** A process that is too busy to read its sockets: what it did not read in time is its own fault, and not a captcha outcome. */

const DEADLINE_MS = 600;
/** Keeps the whole process busy, as an operation that costs too much would: in a turn after which timers come before sockets. */
const block = (ms: number, begin = () => {}) =>
  new Promise<void>((resolve) => {
    setImmediate(() => {
      begin();
      const end = performance.now() + ms;
      while (performance.now() < end);
      resolve();
    });
  });

/** An app before an upstream that never answers. */
const start = () => startBoth({ onTestFinished }, hang, DEADLINE_MS);

/** A captcha service as a thread, and an app before it; every message of the thread goes to the list. */
async function startThread(isDown: boolean, deadlineMs: number) {
  const upstream = new Worker(new URL('./upstream-thread.ts', import.meta.url), { workerData: isDown ? 'down' : '' });
  onTestFinished(async () => void (await upstream.terminate()));
  const messages: string[] = [];
  upstream.on('message', (message) => messages.push(message));
  await expect.poll(() => messages.length).toBe(1);
  const app = await startAgainst({ url: messages.shift() ?? '' }, deadlineMs, { upstreamCheck: 'all' });
  onTestFinished(app.stop);
  messages.length = 0;
  // Sent while this process is busy, the answer cannot be read before.
  const letAnswer = () => upstream.postMessage('answer');
  return { app, messages, letAnswer };
}

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
    // Half of the deadline after the call a probe is sent, and 40 % of it without an answer are silence.
    const deadline = 1_200;
    const { upstream, app } = await startBoth({ onTestFinished }, hang, deadline, { upstreamCheck: 'all' });
    let probes = 0;
    upstream.behave(hang, () => {
      probes += 1;
    });
    const asked = askTimed(app, CAPTCHA);
    await expect.poll(() => probes, { interval: 5 }).toBe(1);
    await block(deadline);
    expectOverloaded(CAPTCHA, await asked);
    // Silence would be confirmed on a second connection at once. The next probe is due a second after the end of the first.
    await pause(200);
    expect(probes).toBe(1);
    expect(app.logged()).not.toContain('"health":"outage"');
  });

  test('does not count if the answer has arrived meanwhile', async () => {
    const { app, messages, letAnswer } = await startThread(false, DEADLINE_MS);
    const captcha = verify(app);
    await expect.poll(() => messages, { interval: 5 }).toContain('asked');
    // Beyond half of the deadline, so that the next timer of the call is the one that ends it.
    await pause(DEADLINE_MS / 2 + 20);
    // The answer comes meanwhile, and waits in the socket when the deadline is found to have passed.
    await block(DEADLINE_MS * 1.5, letAnswer);
    expect(await captcha).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
  });

  test('is no silence of a probe whose answer has arrived meanwhile', async () => {
    // 40 % of the deadline without an answer is silence.
    const { app, messages, letAnswer } = await startThread(true, 1_000);
    const captcha = verify(app);
    await expect.poll(() => messages, { interval: 5 }).toContain('probed');
    await pause(190);
    // Long enough for the answer to arrive and then the time to pass, and so short that it excuses nothing.
    await block(220, letAnswer);
    expect((await captcha).proceed ?? false).toBe(false);
    // Silence would be followed by a second connection at once.
    await pause(100);
    expect(messages.filter((message) => message === 'probed')).toHaveLength(1);
    expect(app.logged()).not.toContain('"health":"outage"');
  });

  test('is the fault of the service only if the process was idle', async () => {
    const { app } = await start();
    // It asks again if the machine kept this process from running meanwhile.
    await expect
      .poll(() => verify(app), { timeout: 20_000 })
      .toMatchObject({ __typename: 'CaptchaIndeterminate', cause: 'TRANSPORT' });
  });
});
