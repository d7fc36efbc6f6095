import { describe, expect, onTestFinished, test } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import type { TestApp } from '../support/app.ts';
import { answer, answersProbes, type Behaviour, hang, type RawRequest } from '../support/hostile.ts';
import { unavailable } from './captchas.ts';
import { FAIL } from './documented.ts';
import { askTimed, CAPTCHA, expectOverloaded, FINGERPRINT, pause, startBoth, verify } from './support.ts';

/** A process that is too busy to read its sockets: what it did not read in time is its own fault, and not a captcha outcome. */

const DEADLINE_MS = 1_200;

/**
 * Does this, and keeps the whole process busy until the deadline has passed, as an operation that costs too much would: in a turn
 * after which timers come before sockets. So what is written to a socket waits there when the deadline is found to have passed.
 */
const block = (begin = () => {}) =>
  new Promise<void>((resolve) => {
    setImmediate(() => {
      begin();
      for (const end = performance.now() + DEADLINE_MS * 1.5; performance.now() < end; );
      resolve();
    });
  });

const start = (first: Behaviour) => startBoth({ onTestFinished }, first, DEADLINE_MS, { upstreamCheck: 'all' });

const probesOf = async (app: TestApp, result: string) =>
  (await readMetrics(app)).value('device_trust_upstream_probes_total', { service: 'captcha', region: 'GLB', result });

describe('a deadline that passes while the process was busy', () => {
  test('a deadline that passes while the process was busy is OVERLOADED, and not a captcha that proceeds', async () => {
    const { upstream, app } = await start(hang);
    const asked = [askTimed(app, CAPTCHA), askTimed(app, FINGERPRINT)] as const;
    await expect.poll(() => upstream.requests).toBe(2);
    await block();
    expectOverloaded(CAPTCHA, await asked[0]);
    expectOverloaded(FINGERPRINT, await asked[1]);
  });

  test('a deadline that passes while the process was busy does not count if the answer has arrived meanwhile', async () => {
    const { upstream, app } = await start(hang);
    const held = upstream.hold();
    const captcha = verify(app);
    await expect.poll(() => held.length).toBe(1);
    // Beyond half of the deadline, so that the next timer of the call is the one that ends it.
    await pause(DEADLINE_MS / 2 + 20);
    await block(() => held.forEach(answer(200, JSON.stringify(FAIL))));
    expect(await captcha).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
  });

  test('a deadline that passes while the process was busy is no failure of a probe whose answer has arrived meanwhile', async () => {
    const { upstream, app } = await start(hang);
    const held: RawRequest[] = [];
    upstream.behave(unavailable, (probe) => void held.push(probe));
    const captcha = verify(app);
    await expect.poll(() => held.length, { interval: 5 }).toBeGreaterThan(0);
    upstream.behave(unavailable);
    await block(() => held.forEach(answersProbes));
    expect((await captcha).proceed ?? false).toBe(false);
    // Each of the three ids of the region had one at the start.
    await expect.poll(() => probesOf(app, 'well')).toBeGreaterThan(3);
    expect([await probesOf(app, 'failed'), await probesOf(app, 'local_failure')]).toEqual([undefined, undefined]);
  });
});
