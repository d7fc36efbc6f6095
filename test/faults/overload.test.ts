import { request } from 'node:http';
import { describe, expect, type TestContext, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import type { TestApp } from '../support/app.ts';
import { ask, type GraphqlError } from '../support/graphql.ts';
import { type Exchange, hang } from '../support/hostile.ts';
import {
  crowd,
  elsewhere,
  expectGood,
  expectOverloaded,
  gather,
  good,
  many,
  pause,
  ROOMY,
  SERVICES,
  startMoody,
  until,
} from './crowd.ts';
import { askTimed, CAPTCHA, FINGERPRINT, type Question, startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';

/** What a crowd of calls means for those who come next: each service has room of its own in each region. */

const SMALL = { upstreamMaxInFlight: 3, upstreamMaxQueue: 2 };
const ROOM = SMALL.upstreamMaxInFlight + SMALL.upstreamMaxQueue;

expectNothingUnhandled();

interface Options {
  readonly deadlineMs?: number;
  readonly limits?: Partial<Config>;
  /** Answers to a request that is not to be kept. */
  readonly exception?: (request: string) => Question | undefined;
}

/** An app before an upstream that keeps what it is asked until it is told to answer. */
async function start(
  { onTestFinished }: TestContext,
  { deadlineMs = 10_000, limits = SMALL, exception }: Options = {},
) {
  const held: Exchange[] = [];
  const upstream = await startMoody((exchange) => {
    const other = exception?.(exchange.request);
    if (other) good(other)(exchange);
    else held.push(exchange);
  });
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, deadlineMs, { ...ROOMY, ...limits });
  onTestFinished(app.stop);
  const answerAll = (question: Question) => {
    upstream.behave(good(question));
    for (const exchange of held) good(question)(exchange);
  };
  return { upstream, app, held, answerAll };
}

/** Asks, and hangs up before there can be an answer. */
async function hangUpOn({ graphqlUrl }: TestApp, { query, variables }: Question): Promise<void> {
  const asked = request(graphqlUrl, { method: 'POST', headers: { 'content-type': 'application/json' } });
  asked.on('error', () => {});
  asked.end(JSON.stringify({ query, variables }));
  await pause(100);
  asked.destroy();
  await pause(100);
}

describe.concurrent.each(SERVICES)('%s', { timeout: 20_000 }, (_service, question) => {
  test('beyond 512 calls under way and 512 that wait, the next ones are OVERLOADED at once; the others are served', async (context) => {
    const { upstream, app, held, answerAll } = await start(context, { limits: {} });
    const { answers, all } = gather(app, question, 512 + 512 + 20);
    await until(() => answers.length === 20 && held.length === 512);
    for (const answered of answers) expectOverloaded(question, answered);
    expect(upstream.requests()).toBe(512);
    answerAll(question);
    for (const answered of (await all).slice(20)) expectGood(question, answered);
    expect(upstream.requests()).toBe(512 + 512);
  });

  test('one that had to wait and then is late ends at its deadline as OVERLOADED, which is no outcome that proceeds', async (context) => {
    const { upstream, app, held } = await start(context, { deadlineMs: 5_000 });
    const first = crowd(app, question, SMALL.upstreamMaxInFlight);
    await until(() => held.length === SMALL.upstreamMaxInFlight);
    const waiting = askTimed(app, question);
    await pause(2_500);
    upstream.behave(hang);
    for (const exchange of held) good(question)(exchange);
    for (const answered of await first) expectGood(question, answered);
    const { elapsed, ...late } = await waiting;
    expectOverloaded(question, late);
    // Timers are allowed to be a little early.
    expect(elapsed).toBeGreaterThan(4_980);
    expect(elapsed).toBeLessThan(6_000);
    // It was sent when there was room, with half of its time left.
    expect(upstream.requests()).toBe(SMALL.upstreamMaxInFlight + 1);
  });

  test('one whose caller hangs up while it waits leaves its place to the next one', async (context) => {
    const { app, held, answerAll } = await start(context);
    const first = crowd(app, question, SMALL.upstreamMaxInFlight);
    await until(() => held.length === SMALL.upstreamMaxInFlight);
    for (let caller = 0; caller < SMALL.upstreamMaxQueue; caller += 1) await hangUpOn(app, question);
    const { answers, all } = gather(app, question, SMALL.upstreamMaxQueue + 1);
    await until(() => answers.length === 1);
    for (const answered of answers) expectOverloaded(question, answered);
    answerAll(question);
    for (const answered of await first) expectGood(question, answered);
    for (const answered of (await all).slice(1)) expectGood(question, answered);
  });

  test('a region that is full takes no room from another one', async (context) => {
    const another = elsewhere(question);
    const isElsewhere = (request: string) => /pk_sandbox_na|captcha_id=b/.test(request);
    const { app, held, answerAll } = await start(context, {
      exception: (request) => (isElsewhere(request) ? another : undefined),
    });
    const { answers, all } = gather(app, question, ROOM + 1);
    await until(() => answers.length === 1 && held.length === SMALL.upstreamMaxInFlight);
    for (const answered of answers) expectOverloaded(question, answered);
    for (const answered of await crowd(app, another, SMALL.upstreamMaxInFlight)) expectGood(another, answered);
    answerAll(question);
    await all;
  });

  test('a service that is full takes no room from the other one', async (context) => {
    const other = question === CAPTCHA ? FINGERPRINT : CAPTCHA;
    const isOther = (request: string) => request.startsWith('POST /validate') === (other === CAPTCHA);
    const { app, held, answerAll } = await start(context, {
      exception: (request) => (isOther(request) ? other : undefined),
    });
    const { answers, all } = gather(app, question, ROOM + 1);
    await until(() => answers.length === 1 && held.length === SMALL.upstreamMaxInFlight);
    for (const answered of answers) expectOverloaded(question, answered);
    for (const answered of await crowd(app, other, SMALL.upstreamMaxInFlight)) expectGood(other, answered);
    answerAll(question);
    await all;
  });
});

test('within one operation, those that find no room fail alone', async (context) => {
  const { upstream, app, held, answerAll } = await start(context);
  const { query } = many(FINGERPRINT, 100);
  const asked = ask(app.graphqlUrl, query);
  await until(() => held.length === SMALL.upstreamMaxInFlight);
  answerAll(FINGERPRINT);
  const { data, errors = [] } = await asked;
  expect(Object.values(data).filter((device) => device !== null)).toHaveLength(ROOM);
  expect(new Set(errors.map(({ extensions }: GraphqlError) => extensions.code))).toEqual(new Set(['OVERLOADED']));
  expect(errors).toHaveLength(100 - ROOM);
  expect(upstream.requests()).toBe(ROOM);
});
