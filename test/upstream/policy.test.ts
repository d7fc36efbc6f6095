import { describe, expect, type TestContext, test } from 'vitest';
import {
  crowd,
  expectGood,
  expectUnavailable,
  gather,
  good,
  HIGH_LIMITS,
  many,
  pause,
  SERVICES,
  type SwitchableUpstream,
  startSwitchable,
  until,
} from '../faults/concurrency.ts';
import { errorEnvelope, exception, FAIL, PAGE } from '../faults/documented.ts';
import { askTimed, CAPTCHA, type Question, startAgainst } from '../faults/expectations.ts';
import { expectNothingUnhandled } from '../faults/process-watch.ts';
import type { TestApp } from '../support/app.ts';
import { answer, type Behaviour, bytes, gzipBomb, hang, reset } from '../support/hostile.ts';
import { ask, startOperation } from '../support/requests.ts';

/**
 * When the circuit breaker of an upstream opens, how it probes, and when it closes. test/faults/overload.test.ts has
 * the bulkhead.
 */

/** The breaker opens when more than half of the last 50 calls failed, once there were 20. */
const ENOUGH = 20;
/** A little longer than the breaker stays open before it admits a probe, in ms. */
const OPEN_MS = 1_100;

const broken = answer(500, PAGE);

expectNothingUnhandled();

async function start({ onTestFinished }: TestContext, first: Behaviour, deadlineMs = 60_000) {
  const upstream = await startSwitchable(first);
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, deadlineMs, HIGH_LIMITS);
  onTestFinished(app.stop);
  return { upstream, app };
}

/** An app whose breaker has just opened. */
async function startOpen(context: TestContext, question: Question) {
  const { upstream, app } = await start(context, broken);
  await crowd(app, question, ENOUGH);
  await expectOpen(upstream, app, question);
  return { upstream, app };
}

/** Expects an answer without a call. */
async function expectOpen(upstream: SwitchableUpstream, app: TestApp, question: Question): Promise<void> {
  const before = upstream.requests();
  const { waited, ...answered } = await askTimed(app, question);
  expectUnavailable(question, answered);
  expect(upstream.requests()).toBe(before);
  expect(waited).toBeLessThan(500);
}

async function expectClosed(upstream: SwitchableUpstream, app: TestApp, question: Question): Promise<void> {
  const before = upstream.requests();
  await askTimed(app, question);
  expect(upstream.requests()).toBe(before + 1);
}

/** Makes 200 calls, each of which has to arrive. */
async function expectNeverOpen(context: TestContext, question: Question, behave: Behaviour): Promise<void> {
  const { upstream, app } = await start(context, behave);
  const { query, variables } = many(question, 100);
  for (const calls of [100, 200]) {
    await ask(app.graphqlUrl, query, variables);
    expect(upstream.requests()).toBe(calls);
  }
  expect(app.logged()).not.toContain('circuit breaker');
}

async function expectToOpen(
  context: TestContext,
  service: string,
  question: Question,
  behave: Behaviour,
  deadlineMs?: number,
): Promise<void> {
  const { upstream, app } = await start(context, behave, deadlineMs);
  await crowd(app, question, ENOUGH - 1);
  await expectClosed(upstream, app, question);
  await expectOpen(upstream, app, question);
  expect(app.logged()).toContain(`"service":"${service}","region":"GLB","breaker":"open"`);
}

// Not concurrent: beside others this process may lag so long that it takes a late response for its own fault.
test.for(SERVICES)(
  '%s: 20 calls without a response in time open it, and the log says so',
  ([service, question], context) => expectToOpen(context, service, question, hang, 1_500),
);

describe.concurrent.each(SERVICES)('%s', { timeout: 60_000 }, (service, question) => {
  test.for([400, 401, 403, 404])(
    '200 responses with status %i, which a client can provoke, never open it',
    (status, context) => expectNeverOpen(context, question, answer(status, errorEnvelope(status, 'no'))),
  );

  test.for<[string, Behaviour]>([
    ['responses with status 500', broken],
    ['resets', reset],
    ['responses that are not HTTP', bytes('SSH-2.0-OpenSSH\r\n')],
    ['compressed bodies', answer(200, gzipBomb(question.good), { 'content-encoding': 'gzip' })],
  ])('20 %s open it, and the log says so', ([, behave], context) => expectToOpen(context, service, question, behave));

  test('faults in half of the last 50 calls do not open it, and one more does', async (context) => {
    const { upstream, app } = await start(context, good(question));
    for (let call = 0; call < 30; call += 1) await expectClosed(upstream, app, question);
    upstream.behave(broken);
    for (let call = 0; call < 26; call += 1) await expectClosed(upstream, app, question);
    await expectOpen(upstream, app, question);
  });

  test('after a second one call is the probe, while all others fail at once; it closes the breaker if it succeeds', async (context) => {
    const { upstream, app } = await startOpen(context, question);
    const held = upstream.hold();
    await pause(OPEN_MS);
    const { answers, all } = gather(app, question, 50);
    // They do not wait for the outcome of the probe.
    await until(() => answers.length === 49);
    for (const answered of answers) expectUnavailable(question, answered);
    expect(held).toHaveLength(1);

    upstream.behave(good(question));
    for (const exchange of held) good(question)(exchange);
    await all;
    for (const answered of answers.slice(49)) expectGood(question, answered);
    for (const answered of await crowd(app, question, 50)) expectGood(question, answered);
    expect(app.logged()).toContain(`"service":"${service}","region":"GLB","breaker":"closed"`);
  });

  // In an outage without responses, calls that began before it opened fail for as long as their deadline after that.
  test('calls that began before it opened neither keep it open nor open it again', async (context) => {
    const { upstream, app } = await start(context, broken);
    const old = upstream.hold();
    const { all } = gather(app, question, 2 * ENOUGH);
    await until(() => old.length === 2 * ENOUGH);
    upstream.behave(broken);
    await crowd(app, question, ENOUGH);
    await expectOpen(upstream, app, question);

    const probes = upstream.hold();
    await pause(OPEN_MS);
    const probe = askTimed(app, question);
    await until(() => probes.length === 1);
    upstream.behave(good(question));
    for (const exchange of old.slice(ENOUGH)) reset(exchange);
    await pause(100);
    for (const exchange of probes) good(question)(exchange);
    expectGood(question, await probe);
    await expectClosed(upstream, app, question);

    for (const exchange of old.slice(0, ENOUGH)) reset(exchange);
    await all;
    await expectClosed(upstream, app, question);
    expect(app.logged().match(/"breaker":"\w+"/g)).toEqual(['"breaker":"open"', '"breaker":"closed"']);
  });

  test('a probe that fails keeps it open for another second', async (context) => {
    const { upstream, app } = await startOpen(context, question);
    await pause(OPEN_MS);
    await expectClosed(upstream, app, question);
    await expectOpen(upstream, app, question);
    upstream.behave(good(question));
    await pause(OPEN_MS);
    expectGood(question, await askTimed(app, question));
  });

  // A bot that could end the probe by disconnecting could keep the breaker open, and captchas proceed without a
  // verdict.
  describe('a probe whose client disconnects', () => {
    async function startAbandoned(context: TestContext) {
      const { upstream, app } = await startOpen(context, question);
      const held = upstream.hold();
      await pause(OPEN_MS);
      const disconnect = startOperation(app.graphqlUrl, question);
      await until(() => held.length === 1);
      disconnect();
      // That neither closes the breaker nor ends the probe.
      await pause(100);
      await expectOpen(upstream, app, question);
      expect(app.logged()).not.toContain('"breaker":"closed"');
      upstream.behave(good(question));
      return { upstream, app, held };
    }

    test('still closes it if it succeeds', async (context) => {
      const { app, held } = await startAbandoned(context);
      for (const exchange of held) good(question)(exchange);
      await until(() => app.logged().includes('"breaker":"closed"'));
      expectGood(question, await askTimed(app, question));
    });

    test('keeps it open if it fails', async (context) => {
      const { upstream, app, held } = await startAbandoned(context);
      for (const exchange of held) reset(exchange);
      await pause(100);
      await expectOpen(upstream, app, question);
      expect(app.logged()).not.toContain('"breaker":"closed"');
    });
  });
});

describe.concurrent('captcha', { timeout: 60_000 }, () => {
  // With an open breaker a captcha may proceed, so what a bot can provoke must not open it, whatever the status.
  test.for([
    ['a failed verification', JSON.stringify(FAIL)],
    ['a replay', exception('-50003', 'illegal verify')],
    ['an unknown lot number', exception('-50303', 'illegal lot_number')],
    ['a captcha id that is paused', exception('-50105', 'captcha_id paused')],
    ['a captcha id that is deleted', exception('-50104', 'captcha_id deleted')],
  ])('200 responses with %s and status 500 never open it', ([, body = ''], context) =>
    expectNeverOpen(context, CAPTCHA, answer(500, body)),
  );

  test('20 responses with a failure of the service and status 500 open it', async (context) => {
    const { upstream, app } = await start(context, answer(500, exception('-50000', 'runtime error')));
    await crowd(app, CAPTCHA, ENOUGH);
    await expectOpen(upstream, app, CAPTCHA);
  });
});
