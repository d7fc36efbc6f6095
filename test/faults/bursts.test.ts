import { describe, expect, type TestContext, test } from 'vitest';
import type { Challenge } from '../support/challenges.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, type Behaviour, closeConnection, hang, type RawRequest, reset } from '../support/hostile.ts';
import { ask } from '../support/requests.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { pause, startSwitchable, until } from './concurrency.ts';
import { exception, FAIL, PAGE } from './documented.ts';
import { startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';

/** Failures that befall everybody, for a moment or for longer. A moment is no outage, and an outage is known within 3 s. */

expectNothingUnhandled();

const BOGUS: Challenge = { lotNumber: 'lot-one', captchaOutput: 'o', passToken: 'p', genTime: '1' };
const fails = answer(200, JSON.stringify(FAIL));
const unavailable = answer(503, PAGE);
/** An outage is known within this time, in ms (design, 7.6). */
const KNOWN_MS = 3_000;
/** What a busy machine adds to a time, in ms. */
const SLACK_MS = 3_000;

/** An app before a service that rejects every captcha, until the test says otherwise. */
async function start({ onTestFinished }: TestContext, deadlineMs = 3_000) {
  const upstream = await startSwitchable(fails);
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, deadlineMs, { upstreamCheck: 'all' });
  onTestFinished(app.stop);
  const verify = async () => {
    const stopwatch = startStopwatch();
    const { data, text } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: BOGUS });
    return { outcome: data.validateCaptcha, text, waited: stopwatch() };
  };
  /** Resolves once a captcha proceeds, which is once an outage is confirmed. */
  const untilProceeding = async () => until(async () => (await verify()).outcome?.proceed === true);
  const untilVerified = async () => until(async () => (await verify()).outcome?.__typename === 'CaptchaFailed');
  return { upstream, app, verify, untilProceeding, untilVerified };
}

// This machine, which runs the bot, the app and the service, can do about this many calls a second.
const [EVERY_MS, PER_TURN] = [10, 3];

test.for([40, 100])(
  'at 300 calls a second, %i ms in which every call and probe gets a 503 let nothing proceed, and calls go on right after',
  async (ms, context) => {
    const { upstream, app, verify } = await start(context);
    const answers: ReturnType<typeof verify>[] = [];
    const attack = async (until: () => boolean) => {
      for (; !until(); await pause(EVERY_MS)) for (let call = 0; call < PER_TURN; call += 1) answers.push(verify());
    };
    const after = (duration: number) => {
      const end = performance.now() + duration;
      return () => performance.now() > end;
    };
    await attack(after(300));
    let isOver = false;
    upstream.fail(unavailable);
    // On a busy machine it fires before anything that comes later, so the burst never lasts longer.
    setTimeout(() => {
      upstream.behave(fails);
      isOver = true;
    }, ms);
    await attack(() => isOver);
    const duringBurst = answers.length;
    await attack(after(1_000));
    const outcomes = await Promise.all(answers);
    expect(outcomes.filter(({ outcome }) => outcome?.proceed === true)).toEqual([]);
    expect(outcomes.slice(0, duringBurst).some(({ outcome }) => outcome?.cause === 'TRANSPORT')).toBe(true);
    // Each one that came after it was sent, and has its verdict.
    const late = outcomes.slice(duringBurst);
    expect(late.length).toBeGreaterThan(10);
    expect(late.filter(({ outcome }) => outcome?.__typename !== 'CaptchaFailed')).toEqual([]);
    expect(app.logged()).not.toContain('"health":"outage"');
  },
);

describe.concurrent('a whole outage', { timeout: 60_000 }, () => {
  test.for<readonly [string, Behaviour, number]>([
    ['503', unavailable, 2_000],
    ['a page with 200', answer(200, PAGE), 2_000],
    ['the exception -50000', answer(500, exception('-50000', 'runtime error')), 2_000],
    ['a reset', reset, 2_000],
    ['a closed connection', closeConnection, 2_000],
    // A probe that hangs waits for the deadline at most.
    ['silence', hang, 5_000],
  ])(
    'with %s is known within 3 s, is answered at once, and ends with the first probe that is answered',
    async ([, failure, endsWithin], context) => {
      const { upstream, verify, untilVerified } = await start(context);
      const { waited } = await verify();
      expect(waited).toBeLessThan(SLACK_MS);
      upstream.fail(failure);
      const known = startStopwatch();
      const early: ReturnType<typeof verify>[] = [];
      let isKnown = false;
      for (; !isKnown; await pause(100)) {
        const asked = verify();
        early.push(asked);
        void asked.then(({ outcome }) => {
          isKnown ||= outcome?.proceed === true;
        });
      }
      expect(known()).toBeLessThan(KNOWN_MS + SLACK_MS);
      await Promise.all(early);

      const sent = upstream.requests();
      for (const { outcome, waited } of await Promise.all(Array.from({ length: 10 }, verify))) {
        expect(outcome).toMatchObject({ __typename: 'CaptchaIndeterminate', proceed: true });
        expect(waited).toBeLessThan(SLACK_MS);
      }
      expect(upstream.requests()).toBe(sent);

      upstream.behave(fails);
      const over = startStopwatch();
      await untilVerified();
      expect(over()).toBeLessThan(endsWithin + SLACK_MS);
      // Once it is over, a captcha whose call fails does not proceed.
      upstream.behave(reset);
      expect((await verify()).outcome?.proceed ?? false).toBe(false);
    },
  );

  test('with refused connections is known within 3 s', async (context) => {
    const { upstream, verify, untilProceeding } = await start(context);
    await upstream.stop();
    const known = startStopwatch();
    await untilProceeding();
    expect(known()).toBeLessThan(KNOWN_MS + SLACK_MS);
    expect((await verify()).outcome).toMatchObject({ cause: 'TRANSPORT', proceed: true });
  });

  test('ends with the answer to a call that was sent before', async (context) => {
    const { upstream, verify, untilProceeding } = await start(context, 20_000);
    const held: readonly RawRequest[] = upstream.hold();
    const early = verify();
    await until(() => held.length === 1);
    upstream.fail(unavailable);
    await untilProceeding();
    upstream.behave(fails, unavailable);
    const sent = upstream.requests();
    for (const exchange of held) fails(exchange);
    expect((await early).outcome).toMatchObject({ __typename: 'CaptchaFailed' });
    expect((await verify()).outcome).toMatchObject({ __typename: 'CaptchaFailed' });
    expect(upstream.requests()).toBe(sent + 1);
  });

  test.for([429, 400, 418])(
    'is not confirmed any more once a probe is answered with %i, which a bot may have caused',
    async (status, context) => {
      const { upstream, app, verify, untilProceeding } = await start(context, 2_000);
      upstream.fail(unavailable);
      await untilProceeding();
      upstream.behave(unavailable, answer(status, ''));
      await until(() => app.logged().includes('"health":"unknown"'));
      const { outcome } = await verify();
      expect(outcome).toMatchObject({ __typename: 'CaptchaIndeterminate', cause: 'TRANSPORT', proceed: false });
    },
  );

  test.for([429, 400, 418])('is not confirmed by probes that are answered with %i', async (status, context) => {
    const { upstream, app, verify } = await start(context, 2_000);
    upstream.behave(unavailable, answer(status, ''));
    const outcomes = await Promise.all(Array.from({ length: 5 }, verify));
    for (const { outcome } of outcomes) expect(outcome).toMatchObject({ cause: 'TRANSPORT', proceed: false });
    expect(app.logged()).not.toContain('"health":"outage"');
  });
});
