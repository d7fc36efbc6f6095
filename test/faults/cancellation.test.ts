import { expect, type TestContext, test } from 'vitest';
import { captchasMutation } from '../support/graphql.ts';
import { hang, type RawRequest } from '../support/hostile.ts';
import { startOperation } from '../support/requests.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import {
  askTimed,
  CAPTCHA,
  expectGood,
  FINGERPRINT,
  good,
  HIGH_LIMITS,
  pause,
  SERVICES,
  startBoth,
  until,
} from './support.ts';

/** What becomes of the calls of a client that disconnects. */

/** In ms, without the time in which a busy machine did not let this process run. Nothing else would end the calls for a minute. */
const SOON = 500;

/** An app before an upstream that keeps every request unanswered. */
async function start(context: TestContext) {
  const { upstream, app } = await startBoth(context, hang, 60_000, HIGH_LIMITS);
  return { upstream, app, held: upstream.hold() };
}

/** Disconnects, and waits until all of these requests at the upstream have ended. */
async function untilAborted(exchanges: readonly RawRequest[], disconnect: () => void): Promise<void> {
  const closed = exchanges.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve)));
  const waited = startStopwatch();
  disconnect();
  await Promise.all(closed);
  expect(waited()).toBeLessThan(SOON);
}

test.for(SERVICES)(
  'a client that disconnects ends its call to the %s service at once',
  async ([, question], context) => {
    const { app, held, upstream } = await start(context);
    const disconnect = startOperation(app.graphqlUrl, question);
    await until(() => held.length === 1);
    await untilAborted(held, disconnect);
    // No warning is logged for it, and the next caller is served.
    expect(app.logged()).not.toMatch(/UPSTREAM_|INTERNAL_SERVER_ERROR/);
    upstream.behave(good(question));
    expectGood(question, await askTimed(app, question));
  },
);

test('a captcha after one whose client has disconnected is never sent', async (context) => {
  const { app, held, upstream } = await start(context);
  const { variables } = CAPTCHA;
  const disconnect = startOperation(app.graphqlUrl, { query: captchasMutation(3), variables });
  await until(() => held.length === 1);
  await untilAborted(held, disconnect);
  await pause(100);
  expect(upstream.requests).toBe(1);
});

test('a client that disconnects ends no call of another client, even if both asked the same', async (context) => {
  const { app, held, upstream } = await start(context);
  const disconnect = startOperation(app.graphqlUrl, FINGERPRINT);
  await until(() => held.length === 1);
  const other = askTimed(app, FINGERPRINT);
  await until(() => held.length === 2);
  await untilAborted(held.slice(0, 1), disconnect);
  await pause(50);
  expect(held.map(({ socket }) => socket.destroyed)).toEqual([true, false]);
  for (const exchange of held.slice(1)) good(FINGERPRINT)(exchange);
  expectGood(FINGERPRINT, await other);
  expect(upstream.requests).toBe(2);
});
