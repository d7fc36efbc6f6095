import { describe, expect, type TestContext, test } from 'vitest';
import { hang, type RawRequest } from '../support/hostile.ts';
import {
  askTimed,
  CAPTCHA,
  crowd,
  expectGood,
  expectOverloaded,
  FINGERPRINT,
  gather,
  good,
  HIGH_LIMITS,
  inRegion,
  pause,
  type Question,
  queuedCalls,
  SERVICES,
  startBoth,
  until,
} from './support.ts';

/** What many calls at once mean for further calls: each service has a limit and a queue of its own in each region. */

/** As many may wait. */
const SMALL = { upstreamMaxInFlight: 3 };
const CAPACITY = 2 * SMALL.upstreamMaxInFlight;

/** An app before an upstream that holds every request until the test lets it answer, except those about these questions. */
async function start(context: TestContext, deadlineMs = 60_000, exceptions: readonly Question[] = []) {
  const { upstream, app } = await startBoth(context, hang, deadlineMs, { ...HIGH_LIMITS, ...SMALL });
  const held: RawRequest[] = [];
  const isAbout = (request: string, { field, variables }: Question) =>
    request.startsWith('POST /validate') === (field === 'validateCaptcha') &&
    (variables['publicKey'] === undefined || request.includes(String(variables['publicKey']))) &&
    request.includes(String(Object(variables['input']).captchaId ?? ''));
  upstream.behave((exchange) => {
    const other = exceptions.find((question) => isAbout(exchange.request, question));
    if (other) good(other)(exchange);
    else held.push(exchange);
  });
  const answerAll = (question: Question) => {
    upstream.behave(good(question));
    for (const exchange of held) good(question)(exchange);
  };
  return { upstream, app, held, answerAll };
}

describe.concurrent.each(SERVICES)('at the %s service', (_service, question) => {
  test('calls beyond the limit wait in a queue, and beyond the queue they are OVERLOADED at once, here alone', async (context) => {
    const others = [question === CAPTCHA ? FINGERPRINT : CAPTCHA, inRegion(question, 'NA')];
    const { upstream, app, held, answerAll } = await start(context, 60_000, others);
    const { answers, all } = gather(app, question, CAPACITY + 3);
    await until(() => answers.length === 3 && held.length === SMALL.upstreamMaxInFlight);
    for (const answered of answers) {
      expectOverloaded(question, answered);
      expect(answered.waited).toBeLessThan(1_000);
    }
    expect(await queuedCalls(app)).toBe(SMALL.upstreamMaxInFlight);
    // Another region and the other service have limits of their own.
    for (const other of others)
      for (const answered of await crowd(app, other, SMALL.upstreamMaxInFlight)) expectGood(other, answered);
    const before = upstream.requests;
    answerAll(question);
    for (const answered of (await all).slice(3)) expectGood(question, answered);
    expect(upstream.requests).toBe(before + SMALL.upstreamMaxInFlight);
  });

  test('a call that had to wait and then is late ends at its deadline as OVERLOADED, which never proceeds', async (context) => {
    const deadline = 3_000;
    const { upstream, app, held } = await start(context, deadline);
    const first = crowd(app, question, SMALL.upstreamMaxInFlight);
    await until(() => held.length === SMALL.upstreamMaxInFlight);
    const waiting = askTimed(app, question);
    await until(async () => (await queuedCalls(app)) === 1);
    await pause(500);
    // This one is asked later and sent sooner. Nobody answers it either, so it ends between the two deadlines that the waiting
    // one could have: that from its own request, and that from when it is sent.
    let isNextOver = false;
    const next = askTimed(app, inRegion(question, 'NA')).then(() => {
      isNextOver = true;
    });
    await until(() => held.length === SMALL.upstreamMaxInFlight + 1);
    await pause(500);
    upstream.behave(hang);
    for (const exchange of held.slice(0, SMALL.upstreamMaxInFlight)) good(question)(exchange);
    for (const answered of await first) expectGood(question, answered);
    // It was sent when another one had ended, with most of its time left.
    await until(() => upstream.requests === SMALL.upstreamMaxInFlight + 2);
    const { elapsed, ...late } = await waiting;
    // A deadline that began when the call was sent would end later.
    expect(isNextOver).toBe(false);
    expectOverloaded(question, late);
    // Timers are allowed to be a little early.
    expect(elapsed).toBeGreaterThan(deadline - 20);
    await next;
    expect(upstream.requests).toBe(SMALL.upstreamMaxInFlight + 2);
  });
});
