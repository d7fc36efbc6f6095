import { describe, expect, type TestContext, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
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
  many,
  pause,
  queuedCalls,
  SERVICES,
  startBoth,
  until,
} from './support.ts';

/** What becomes of the calls of a client that disconnects. */

/** In ms, without the time in which a busy machine did not let this process run. Nothing else would end the calls for a minute. */
const SOON = 500;

/** An app with these limits before an upstream that keeps every request unanswered. */
async function start(context: TestContext, limits: Partial<Config> = {}) {
  const { upstream, app } = await startBoth(context, hang, 60_000, { ...HIGH_LIMITS, ...limits });
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

describe.each(SERVICES)('%s', (_service, question) => {
  test('a client that disconnects ends the upstream call at once', async (context) => {
    const { app, held, upstream } = await start(context);
    const disconnect = startOperation(app.graphqlUrl, question);
    await until(() => held.length === 1);
    await untilAborted(held, disconnect);
    // No warning is logged for it, and the next caller is served.
    expect(app.logged()).not.toMatch(/UPSTREAM_|INTERNAL_SERVER_ERROR/);
    upstream.behave(good(question));
    expectGood(question, await askTimed(app, question));
  });

  test('a queued call whose client disconnects is never sent, and leaves the queue to the next one', async (context) => {
    const { app, held, upstream } = await start(context, { upstreamMaxInFlight: 1 });
    const served = [askTimed(app, question)];
    await until(() => held.length === 1);
    const disconnect = startOperation(app.graphqlUrl, question);
    await expect.poll(() => queuedCalls(app)).toBe(1);
    disconnect();
    await expect.poll(() => queuedCalls(app)).toBe(0);
    served.push(askTimed(app, question));
    await expect.poll(() => queuedCalls(app)).toBe(1);
    upstream.behave(good(question));
    for (const exchange of held) good(question)(exchange);
    for (const answered of await Promise.all(served)) expectGood(question, answered);
    expect(upstream.requests).toBe(2);
  });
});

test('a captcha after one whose client has disconnected is never sent', async (context) => {
  const { app, held, upstream } = await start(context);
  const disconnect = startOperation(app.graphqlUrl, many(CAPTCHA, 3));
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
