import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { startUpstream } from '../support/upstream.ts';
import { pause } from './concurrency.ts';

/** A process that is too busy to read its sockets: what it did not read in time is its own fault, and not a captcha outcome. */

const DEADLINE_MS = 800;
const INPUT = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };

/** Keeps the whole process busy, as an operation that costs too much would. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** An app before an upstream that never answers. */
async function start() {
  const upstream = await startUpstream(() => {});
  onTestFinished(upstream.stop);
  return { upstream, app: await startBefore(upstream.url) };
}

async function startBefore(url: string) {
  const urls = { GLB: url, NA: url, EU: url };
  const app = await startInLiveMode(urls, { captchaTimeoutMs: DEADLINE_MS, fingerprintTimeoutMs: DEADLINE_MS });
  onTestFinished(app.stop);
  return app;
}

describe('a deadline that passes while the process was busy', () => {
  test('is OVERLOADED, and not a captcha that proceeds', async () => {
    const { upstream, app } = await start();
    const captcha = ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
    const fingerprint = ask(app.graphqlUrl, FINGERPRINT_QUERY, { token: 't' });
    await expect.poll(() => upstream.received.length).toBe(2);
    block(DEADLINE_MS * 1.5);
    for (const { data, errors } of [await captcha, await fingerprint]) {
      expect(Object.values(data)).toEqual([null]);
      expect(errors).toMatchObject([{ extensions: { code: 'OVERLOADED', retryable: true } }]);
    }
  });

  test('confirms no outage', async () => {
    const { upstream, app } = await start();
    const crowd = Array.from({ length: 40 }, () => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT }));
    await expect.poll(() => upstream.received.length).toBe(40);
    block(DEADLINE_MS * 1.5);
    for (const { data } of await Promise.all(crowd)) expect(data).toEqual({ validateCaptcha: null });
    expect(app.logged()).not.toContain('"health":"outage"');
  });

  test('does not count if the answer has arrived meanwhile', async () => {
    const upstream = new Worker(new URL('./upstream-thread.ts', import.meta.url));
    onTestFinished(async () => void (await upstream.terminate()));
    const message = () => new Promise<string>((resolve) => upstream.once('message', resolve));
    const app = await startBefore(await message());
    const asked = message();
    const captcha = ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
    await asked;
    // The answer comes meanwhile, and waits in the socket when the deadline is found to have passed.
    block(DEADLINE_MS * 1.5);
    const { data, errors } = await captcha;
    expect(errors).toBeUndefined();
    expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
  });

  test('is no silence of a probe whose answer has arrived meanwhile', async () => {
    const upstream = new Worker(new URL('./upstream-thread.ts', import.meta.url), { workerData: 'down' });
    onTestFinished(async () => void (await upstream.terminate()));
    const messages: string[] = [];
    upstream.on('message', (message) => messages.push(message));
    await expect.poll(() => messages.length).toBe(1);
    const [url = ''] = messages;
    // 40 % of the deadline without an answer is silence, and a probe is answered after 30 %.
    const app = await startInLiveMode(
      { GLB: url, NA: url, EU: url },
      { captchaTimeoutMs: 1_000, upstreamCheck: 'all' },
    );
    onTestFinished(app.stop);
    const before = messages.length;
    const captcha = ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
    await expect.poll(() => messages.slice(before), { interval: 5 }).toContain('probed');
    await pause(220);
    // Long enough for the answer to arrive and then the time to pass, and so short that it excuses nothing.
    block(200);
    expect((await captcha).data.validateCaptcha).toMatchObject({ proceed: false });
    expect(app.logged()).not.toContain('"health":"outage"');
  });

  test('is the fault of the service only if the process was idle', async () => {
    const { app } = await start();
    // It asks again if the machine kept this process from running meanwhile.
    const outcome = async () => (await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT })).data.validateCaptcha;
    await expect
      .poll(outcome, { timeout: 20_000 })
      .toMatchObject({ __typename: 'CaptchaIndeterminate', cause: 'TRANSPORT' });
  }, 30_000);
});
