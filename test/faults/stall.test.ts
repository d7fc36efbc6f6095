import { expect, onTestFinished, test } from 'vitest';
import { answer, bytes, hang, head } from '../support/hostile.ts';
import { FAIL } from './documented.ts';
import { askTimed, CAPTCHA, expectError, expectOverloaded, FINGERPRINT, pause, startBoth, verify } from './support.ts';

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

const start = () => startBoth({ onTestFinished }, hang, DEADLINE_MS, { upstreamCheck: 'all' });

test('a deadline that passes while the process was busy is OVERLOADED if a part of the answer has arrived meanwhile, and not a captcha that proceeds', async () => {
  const { upstream, app } = await start();
  const held = upstream.hold();
  const asked = [askTimed(app, CAPTCHA), askTimed(app, FINGERPRINT)] as const;
  await expect.poll(() => held.length).toBe(2);
  await block(() => held.forEach(bytes(head(200, { 'content-length': '99' }))));
  expectOverloaded(CAPTCHA, await asked[0]);
  expectOverloaded(FINGERPRINT, await asked[1]);
});

test('a deadline that passes while the process was busy is the failure of a service that has sent nothing', async () => {
  const { upstream, app } = await start();
  const asked = [verify(app), askTimed(app, FINGERPRINT)] as const;
  await expect.poll(() => upstream.requests).toBe(2);
  await block();
  expect(await asked[0]).toMatchObject({ cause: 'TRANSPORT', proceed: false });
  expectError(await asked[1], 'UPSTREAM_TIMEOUT');
});

test('a deadline that passes while the process was busy does not count if the answer has arrived meanwhile', async () => {
  const { upstream, app } = await start();
  const held = upstream.hold();
  const captcha = verify(app);
  await expect.poll(() => held.length).toBe(1);
  // Beyond half of the deadline, so that the next timer of the call is the one that ends it.
  await pause(DEADLINE_MS / 2 + 20);
  await block(() => held.forEach(answer(200, JSON.stringify(FAIL))));
  expect(await captcha).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
});
