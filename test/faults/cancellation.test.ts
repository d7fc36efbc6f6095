import { createServer, request } from 'node:http';
import { describe, expect, type TestContext, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { type Exchange, hang } from '../support/hostile.ts';
import { closeAtOnce, listen } from '../support/loopback.ts';
import { expectGood, good, many, pause, ROOMY, SERVICES, startMoody, until } from './crowd.ts';
import { askTimed, CAPTCHA, FINGERPRINT, type Question, startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';

/** What becomes of the calls of a caller who hangs up. */

/** In ms, beyond what the machine takes for the same through a bare proxy. */
const SOON = 100;

expectNothingUnhandled();

/** An app, with as much room for calls as is said, before an upstream that keeps what it is asked. */
async function start({ onTestFinished }: TestContext, limits: Partial<Config> = {}) {
  const upstream = await startMoody(hang);
  const held: readonly Exchange[] = upstream.hold();
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, 10_000, { ...ROOMY, ...limits });
  onTestFinished(app.stop);
  return { upstream, app, held };
}

/** Asks, and hangs up when that is called. */
function dial(graphqlUrl: string, { query, variables }: Pick<Question, 'query' | 'variables'>): () => void {
  const caller = request(graphqlUrl, { method: 'POST', headers: { 'content-type': 'application/json' } });
  caller.on('error', () => {});
  caller.end(JSON.stringify({ query, variables }));
  return () => caller.destroy();
}

/** How long it takes, in ms, until the upstream has none of these requests to answer any more. */
async function untilAborted(exchanges: readonly Exchange[], hangUp: () => void): Promise<number> {
  const closed = exchanges.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve)));
  const start = performance.now();
  hangUp();
  await Promise.all(closed);
  return performance.now() - start;
}

/**
 * A caller of a bare proxy, whose upstream keeps what it is asked. Whoever hangs up there at the same moment sees how long
 * this machine needs for as many sockets, one after the other; the rest is ours.
 */
async function startBare({ onTestFinished }: TestContext) {
  const upstream = await startMoody(hang);
  const held: readonly Exchange[] = upstream.hold();
  const server = createServer((_request, response) => {
    const passedOn = request(upstream.url).on('error', () => {});
    passedOn.end();
    response.on('close', () => passedOn.destroy());
  });
  const hangUp = dial(`http://127.0.0.1:${await listen(server)}`, { query: '', variables: {} });
  await until(() => held.length === 1);
  onTestFinished(() => closeAtOnce(server));
  onTestFinished(upstream.stop);
  return { held, hangUp };
}

/** The upstream is rid of these requests within 100 ms, but for the time that a busy machine adds to that. */
async function expectAbortedSoon(context: TestContext, exchanges: readonly Exchange[], hangUp: () => void) {
  const bare = await startBare(context);
  const [ours, machine] = await Promise.all([untilAborted(exchanges, hangUp), untilAborted(bare.held, bare.hangUp)]);
  expect(ours - machine).toBeLessThan(SOON);
  // Whatever blocks this process delays both.
  expect(ours).toBeLessThan(5 * SOON);
}

describe.each(SERVICES)('%s', (_service, question) => {
  test('a caller who hangs up takes the upstream call along within 100 ms', async (context) => {
    const { app, held, upstream } = await start(context);
    const hangUp = dial(app.graphqlUrl, question);
    await until(() => held.length === 1);
    await expectAbortedSoon(context, held, hangUp);
    // The operator is not woken for it, and the next caller is served.
    expect(app.logged()).not.toMatch(/UPSTREAM_|INTERNAL_SERVER_ERROR/);
    upstream.behave(good(question));
    expectGood(question, await askTimed(app, question));
  });

  test('a call that waits for room when its caller hangs up is never sent', async (context) => {
    const { app, held, upstream } = await start(context, { upstreamMaxInFlight: 1, upstreamMaxQueue: 1 });
    const served = askTimed(app, question);
    await until(() => held.length === 1);
    const hangUp = dial(app.graphqlUrl, question);
    await pause(100);
    hangUp();
    await pause(100);
    upstream.behave(good(question));
    for (const exchange of held) good(question)(exchange);
    expectGood(question, await served);
    await pause(100);
    expect(upstream.requests()).toBe(1);
  });
});

test('several calls of one caller all end within 100 ms', async (context) => {
  const { app, held, upstream } = await start(context, { upstreamMaxInFlight: 20, upstreamMaxQueue: 30 });
  const hangUp = dial(app.graphqlUrl, many(FINGERPRINT, 50));
  await until(() => held.length === 20);
  await expectAbortedSoon(context, held, hangUp);
  // Nor are those sent that waited for room.
  await pause(100);
  expect(upstream.requests()).toBe(20);
});

test('a captcha behind one that its caller no longer waits for is never sent', async (context) => {
  const { app, held, upstream } = await start(context);
  const hangUp = dial(app.graphqlUrl, many(CAPTCHA, 3));
  await until(() => held.length === 1);
  hangUp();
  await pause(200);
  expect(upstream.requests()).toBe(1);
});

test('a caller who hangs up ends the calls of nobody else, not even of one who asked the same', async (context) => {
  const { app, held, upstream } = await start(context);
  const hangUp = dial(app.graphqlUrl, FINGERPRINT);
  await until(() => held.length === 1);
  const other = askTimed(app, FINGERPRINT);
  await until(() => held.length === 2);
  await untilAborted(held.slice(0, 1), hangUp);
  await pause(50);
  expect(held.map(({ socket }) => socket.destroyed)).toEqual([true, false]);
  for (const exchange of held.slice(1)) good(FINGERPRINT)(exchange);
  expectGood(FINGERPRINT, await other);
  expect(upstream.requests()).toBe(2);
});

test('two aliases that ask the same share one call, which ends when their caller hangs up', async (context) => {
  const { app, held, upstream } = await start(context);
  const same = 'deviceFingerprint(token: "same") { __typename }';
  const hangUp = dial(app.graphqlUrl, { query: `{ a: ${same} b: ${same} c: ${same} }`, variables: {} });
  await until(() => held.length === 1);
  await pause(50);
  expect(upstream.requests()).toBe(1);
  expect(await untilAborted(held, hangUp)).toBeLessThan(1_000);
});
