import { describe, expect, onTestFinished, test } from 'vitest';
import { startInLiveMode } from '../support/app.ts';
import { ask, CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { FAIL } from './documented.ts';

/** A process that is too busy to read its sockets: what it did not get to is its own fault, and no outcome of a captcha. */

const DEADLINE_MS = 800;
const INPUT = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };

/** Keeps the whole process busy, as an operation that costs too much would. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

async function start(afterMs: number) {
  const upstream = await startUpstream((_request, response) => {
    setTimeout(() => sendJson(response, 200, FAIL), afterMs);
  });
  onTestFinished(upstream.stop);
  const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
  const app = await startInLiveMode(urls, { captchaTimeoutMs: DEADLINE_MS, fingerprintTimeoutMs: DEADLINE_MS });
  onTestFinished(app.stop);
  return { upstream, app };
}

describe('a deadline that passes while the process was busy', () => {
  test('is OVERLOADED, and not a captcha that proceeds', async () => {
    const { upstream, app } = await start(60_000);
    const captcha = ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
    const fingerprint = ask(app.graphqlUrl, FINGERPRINT_QUERY, { token: 't' });
    await expect.poll(() => upstream.received.length).toBe(2);
    block(DEADLINE_MS * 1.5);
    for (const { data, errors } of [await captcha, await fingerprint]) {
      expect(Object.values(data)).toEqual([null]);
      expect(errors).toMatchObject([{ extensions: { code: 'OVERLOADED', retryable: true } }]);
    }
  });

  test('does not open the breaker', async () => {
    const { upstream, app } = await start(60_000);
    const crowd = Array.from({ length: 40 }, () => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT }));
    await expect.poll(() => upstream.received.length).toBe(40);
    block(DEADLINE_MS * 1.5);
    for (const { data } of await Promise.all(crowd)) expect(data).toEqual({ validateCaptcha: null });
    expect(app.logged()).not.toContain('circuit breaker');
  });

  test('gives way to an answer that has arrived meanwhile', async () => {
    const { upstream, app } = await start(0);
    // The upstream lives in this process as well: it answers before the block, and the answer waits in the socket.
    const captcha = ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
    await expect.poll(() => upstream.received.length, { interval: 1 }).toBe(1);
    block(DEADLINE_MS * 1.5);
    const { data, errors } = await captcha;
    // Read in time or given up as our own fault; what it cannot be is an answer of the policy.
    if (errors) expect(errors).toMatchObject([{ extensions: { code: 'OVERLOADED' } }]);
    else expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
  });

  test('and one that passes for the service alone is the service’s', async () => {
    const { app } = await start(60_000);
    const { data } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
    expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaIndeterminate', cause: 'TRANSPORT' });
  });
});
