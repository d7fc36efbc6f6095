import { describe, expect, type TestContext, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import type { TestApp } from '../support/app.ts';
import { hang, type RawRequest } from '../support/hostile.ts';
import { ask, type GraphqlAnswer, type GraphqlError, startOperation } from '../support/requests.ts';
import {
  crowd,
  elsewhere,
  expectGood,
  expectOverloaded,
  gather,
  good,
  HIGH_LIMITS,
  many,
  pause,
  queuedCalls,
  SERVICES,
  startSwitchable,
  until,
} from './concurrency.ts';
import { askTimed, CAPTCHA, FINGERPRINT, type Question, startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';

/** What many calls at once mean for further calls: each service has a limit and a queue of its own in each region. */

const SMALL = { upstreamMaxInFlight: 3, upstreamMaxQueue: 2 };
const CAPACITY = SMALL.upstreamMaxInFlight + SMALL.upstreamMaxQueue;

expectNothingUnhandled();

interface Options {
  readonly deadlineMs?: number;
  readonly limits?: Partial<Config>;
  /** The answer to a request that is not to be held. */
  readonly exception?: (request: string) => Question | undefined;
}

/** An app before an upstream that holds every request until the test lets it answer. */
async function start(
  { onTestFinished }: TestContext,
  { deadlineMs = 10_000, limits = SMALL, exception }: Options = {},
) {
  const held: RawRequest[] = [];
  const upstream = await startSwitchable((exchange) => {
    const other = exception?.(exchange.request);
    if (other) good(other)(exchange);
    else held.push(exchange);
  });
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, deadlineMs, { ...HIGH_LIMITS, ...limits });
  onTestFinished(app.stop);
  const answerAll = (question: Question) => {
    upstream.behave(good(question));
    for (const exchange of held) good(question)(exchange);
  };
  return { upstream, app, held, answerAll };
}

/** Asks, disconnects once the call is in the queue, and waits until it has left the queue. */
async function disconnectInQueue(app: TestApp, question: Question): Promise<void> {
  const disconnect = startOperation(app.graphqlUrl, question);
  await until(async () => (await queuedCalls(app)) === 1);
  disconnect();
  await until(async () => (await queuedCalls(app)) === 0);
}

describe.concurrent.each(SERVICES)('%s', { timeout: 60_000 }, (_service, question) => {
  test('a call that had to wait and then is late ends at its deadline as OVERLOADED, which never proceeds', async (context) => {
    const { upstream, app, held } = await start(context, { deadlineMs: 5_000 });
    const first = crowd(app, question, SMALL.upstreamMaxInFlight);
    await until(() => held.length === SMALL.upstreamMaxInFlight);
    const waiting = askTimed(app, question);
    await until(async () => (await queuedCalls(app)) === 1);
    await pause(2_500);
    upstream.behave(hang);
    for (const exchange of held) good(question)(exchange);
    for (const answered of await first) expectGood(question, answered);
    const { elapsed, waited, ...late } = await waiting;
    expectOverloaded(question, late);
    // Timers are allowed to be a little early.
    expect(elapsed).toBeGreaterThan(4_980);
    // A deadline that began when the call was sent would end after 7,500 ms.
    expect(waited).toBeLessThan(7_000);
    // It was sent when another one had ended, with half of its time left.
    expect(upstream.requests()).toBe(SMALL.upstreamMaxInFlight + 1);
  });

  test('a queued call whose client disconnects leaves the queue to the next one', async (context) => {
    const { app, held, answerAll } = await start(context);
    const first = crowd(app, question, SMALL.upstreamMaxInFlight);
    await until(() => held.length === SMALL.upstreamMaxInFlight);
    for (let caller = 0; caller < SMALL.upstreamMaxQueue; caller += 1) await disconnectInQueue(app, question);
    const { answers, all } = gather(app, question, SMALL.upstreamMaxQueue + 1);
    await until(() => answers.length === 1);
    for (const answered of answers) expectOverloaded(question, answered);
    answerAll(question);
    for (const answered of await first) expectGood(question, answered);
    for (const answered of (await all).slice(1)) expectGood(question, answered);
  });

  test('a region whose queue is full takes nothing from another region', async (context) => {
    const another = elsewhere(question);
    const isElsewhere = (request: string) => /pk_sandbox_na|captcha_id=b/.test(request);
    const { app, held, answerAll } = await start(context, {
      exception: (request) => (isElsewhere(request) ? another : undefined),
    });
    const { answers, all } = gather(app, question, CAPACITY + 1);
    await until(() => answers.length === 1 && held.length === SMALL.upstreamMaxInFlight);
    for (const answered of answers) expectOverloaded(question, answered);
    for (const answered of await crowd(app, another, SMALL.upstreamMaxInFlight)) expectGood(another, answered);
    answerAll(question);
    await all;
  });

  test('a service whose queue is full takes nothing from the other service', async (context) => {
    const other = question === CAPTCHA ? FINGERPRINT : CAPTCHA;
    const isOther = (request: string) => request.startsWith('POST /validate') === (other === CAPTCHA);
    const { app, held, answerAll } = await start(context, {
      exception: (request) => (isOther(request) ? other : undefined),
    });
    const { answers, all } = gather(app, question, CAPACITY + 1);
    await until(() => answers.length === 1 && held.length === SMALL.upstreamMaxInFlight);
    for (const answered of answers) expectOverloaded(question, answered);
    for (const answered of await crowd(app, other, SMALL.upstreamMaxInFlight)) expectGood(other, answered);
    answerAll(question);
    await all;
  });
});

// One after the other: a thousand requests at once keep this process busy enough.
describe.each(SERVICES)('%s', { timeout: 60_000 }, (_service, question) => {
  test('beyond 512 calls under way and 512 in the queue, the next ones are OVERLOADED at once; the others are served', async (context) => {
    const { upstream, app, held, answerAll } = await start(context, { limits: {}, deadlineMs: 60_000 });
    const served: Promise<GraphqlAnswer[]>[] = [];
    for (let calls = 128; calls <= 512 + 512; calls += 128) {
      served.push(crowd(app, question, 128));
      await until(async () => held.length + (await queuedCalls(app)) === calls);
    }
    for (const answered of await crowd(app, question, 20)) expectOverloaded(question, answered);
    expect(held).toHaveLength(512);
    expect(upstream.requests()).toBe(512);
    answerAll(question);
    for (const answered of (await Promise.all(served)).flat()) expectGood(question, answered);
    expect(upstream.requests()).toBe(512 + 512);
  });
});

test('within one operation, the calls beyond the queue fail alone', async (context) => {
  const { upstream, app, held, answerAll } = await start(context);
  const { query } = many(FINGERPRINT, 100);
  const asked = ask(app.graphqlUrl, query);
  await until(() => held.length === SMALL.upstreamMaxInFlight);
  answerAll(FINGERPRINT);
  const { data, errors = [] } = await asked;
  expect(Object.values(data).filter((device) => device !== null)).toHaveLength(CAPACITY);
  expect(new Set(errors.map(({ extensions }: GraphqlError) => extensions.code))).toEqual(new Set(['OVERLOADED']));
  expect(errors).toHaveLength(100 - CAPACITY);
  expect(upstream.requests()).toBe(CAPACITY);
});
