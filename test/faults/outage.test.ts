import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import type { TestApp } from '../support/app.ts';
import { answer, type Behaviour, hang, reset } from '../support/hostile.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { FAIL, PAGE } from './documented.ts';
import {
  CAPTCHA,
  crowd,
  expectError,
  expectGood,
  FINGERPRINT,
  good,
  inRegion,
  pause,
  SERVICES,
  startAgainst,
  startBoth,
  startSwitchable,
  until,
  verify,
} from './support.ts';

/** Failures that befall everybody, for a moment or for longer. A moment is no outage, and an outage is known soon. */

const DEADLINE = 1_500;
/**
 * An outage is known within this time, in ms, and over this time after its end: a probe follows each second. Of each, 3 s
 * are for a busy machine: the stopwatch leaves out its stalls, but not what they set off.
 */
const [KNOWN_MS, OVER_MS] = [6_000, 5_000];
/** No answer takes as long as this if it waits for no call and no probe, in ms. */
const AT_ONCE_MS = 500;

const [judges, rejects] = [good(FINGERPRINT), answer(200, JSON.stringify(FAIL))];
/** Judges every device, and rejects every captcha. */
const works: Behaviour = (exchange) => (exchange.request.startsWith('POST /validate') ? rejects : judges)(exchange);
const unavailable = answer(503, PAGE);

/** Every account whose outage is in the log, as often as one began. */
function outagesOf(app: TestApp): string[] {
  const found = app.logged().matchAll(/"service":"(\w+)","region":"(\w+)","account":"(\w+)","health":"outage"/g);
  return [...found].map(([, service, region]) => `${service} ${region}`);
}

const untilProceeding = (app: TestApp) => until(async () => (await verify(app))?.proceed === true);
const untilVerified = (app: TestApp) => until(async () => (await verify(app))?.__typename === 'CaptchaFailed');

/** Asks ten times a second, as more and more people wait, until one of them proceeds. Gives how long that took, in ms. */
async function untilKnown(app: TestApp): Promise<number> {
  const known = startStopwatch();
  const asked: Promise<unknown>[] = [];
  let isKnown = false;
  for (; !isKnown; await pause(100)) {
    asked.push(
      verify(app).then((outcome) => {
        isKnown ||= outcome?.proceed === true;
      }),
    );
  }
  const ms = known();
  await Promise.all(asked);
  return ms;
}

/** Nobody waits, and nothing is sent. */
async function expectAnswersAtOnce(app: TestApp, requests: () => number): Promise<void> {
  const sent = requests();
  for (const { data, waited } of await crowd(app, CAPTCHA, 10)) {
    expect(data.validateCaptcha).toMatchObject({
      __typename: 'CaptchaIndeterminate',
      cause: 'TRANSPORT',
      proceed: true,
    });
    expect(waited).toBeLessThan(AT_ONCE_MS);
  }
  expect(requests()).toBe(sent);
}

describe.concurrent('a whole outage', () => {
  test.for<readonly [string, Behaviour, number]>([
    ['a 503', unavailable, 2],
    ['a reset', reset, 1],
    ['silence', hang, 1],
  ])(
    'with %s is known within 6 s, is answered at once, and ends within 5 s with the first probe that is answered, each time',
    async ([, failure, times], context) => {
      const { upstream, app } = await startBoth(context, works, DEADLINE, { upstreamCheck: 'all' });
      expect(await verify(app)).toMatchObject({ __typename: 'CaptchaFailed' });
      for (let outage = 1; outage <= times; outage += 1) {
        upstream.fail(failure);
        expect(await untilKnown(app)).toBeLessThan(KNOWN_MS);
        await expectAnswersAtOnce(app, () => upstream.requests);
        upstream.behave(works);
        const over = startStopwatch();
        await untilVerified(app);
        expect(over()).toBeLessThan(OVER_MS);
        // Once it is over, a captcha whose call fails does not proceed.
        upstream.behave(reset);
        expect((await verify(app)).proceed ?? false).toBe(false);
      }
      expect(outagesOf(app).length).toBeGreaterThanOrEqual(times);
      expect(app.logged().lastIndexOf('"health":"well"')).toBeGreaterThan(
        app.logged().lastIndexOf('"health":"outage"'),
      );
    },
  );

  test('with refused connections is known within 6 s', async (context) => {
    const { upstream, app } = await startBoth(context, works, DEADLINE);
    await upstream.stop();
    expect(await untilKnown(app)).toBeLessThan(KNOWN_MS);
    expect(await verify(app)).toMatchObject({ cause: 'TRANSPORT', proceed: true });
  });

  test('ends with the answer to a call that was sent before', async (context) => {
    const { upstream, app } = await startBoth(context, works, 20_000);
    const held = upstream.hold();
    const early = verify(app);
    await until(() => held.length === 1);
    upstream.fail(unavailable);
    await untilProceeding(app);
    upstream.behave(works, unavailable);
    const sent = upstream.requests;
    for (const exchange of held) works(exchange);
    expect(await early).toMatchObject({ __typename: 'CaptchaFailed' });
    expect(await verify(app)).toMatchObject({ __typename: 'CaptchaFailed' });
    expect(upstream.requests).toBe(sent + 1);
  });

  test('is not confirmed by probes that are answered with 429, which a bot may have caused', async (context) => {
    const { upstream, app } = await startBoth(context, works, DEADLINE);
    let probes = 0;
    upstream.behave(unavailable, (exchange) => {
      probes += 1;
      answer(429, '')(exchange);
    });
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => verify(app)));
    // On a busy machine some are OVERLOADED, and that never proceeds.
    const failed = outcomes.filter((outcome) => outcome?.code !== 'OVERLOADED');
    for (const outcome of failed) expect(outcome).toMatchObject({ cause: 'TRANSPORT', proceed: false });
    expect(probes).toBeGreaterThan(0);
    expect(outagesOf(app)).toEqual([]);
  });

  test.for(SERVICES)(
    'of %s in one region takes nothing from another region or the other service',
    async ([service, question], context) => {
      const pass: Behaviour = (exchange) =>
        (exchange.request.startsWith('POST /validate') ? good(CAPTCHA) : judges)(exchange);
      const [dead, alive] = [await startSwitchable(pass), await startSwitchable(pass)];
      const only: Partial<Config> =
        service === 'captcha' ? { captchaUrlGlb: dead.url } : { fingerprintUrlGlb: dead.url };
      // The first answer to the probes of all accounts is a good one.
      const app = await startAgainst(alive, DEADLINE, { upstreamCheck: 'all', ...only });
      for (const { stop } of [dead, alive, app]) context.onTestFinished(stop);
      const others = [question === CAPTCHA ? FINGERPRINT : CAPTCHA, inRegion(question, 'NA')];
      const askOthers = async () => {
        const before = alive.requests;
        const answers = await Promise.all(others.map((other) => crowd(app, other, 5)));
        for (const [index, other] of others.entries())
          for (const answered of answers[index] ?? []) expectGood(other, answered);
        expect(alive.requests - before).toBe(10);
      };

      dead.fail(reset);
      while (outagesOf(app).length === 0) await Promise.all([crowd(app, question, 5), askOthers()]);
      // From now on the dead one gets no call, and nobody waits.
      const sent = dead.requests;
      const [answers] = await Promise.all([crowd(app, question, 10), askOthers()]);
      for (const { waited, ...answered } of answers) {
        if (question === FINGERPRINT) expectError(answered, 'UPSTREAM_UNAVAILABLE');
        else expect(answered.data.validateCaptcha).toMatchObject({ cause: 'TRANSPORT', proceed: true });
        expect(waited).toBeLessThan(AT_ONCE_MS);
      }
      expect(dead.requests).toBe(sent);
      expect(outagesOf(app)).toEqual([`${service} GLB`]);
    },
  );
});

// This machine, which runs the bot, the app and the service, can do about this many calls a second.
const [EVERY_MS, PER_TURN] = [10, 3];

test('at 300 calls a second, 100 ms in which every call and probe gets a 503 let nothing proceed, and calls go on right after', async (context) => {
  const { upstream, app } = await startBoth(context, works, 3_000, { upstreamCheck: 'all' });
  const answers: ReturnType<typeof verify>[] = [];
  const attack = async (isOver: () => boolean) => {
    for (; !isOver(); await pause(EVERY_MS)) for (let call = 0; call < PER_TURN; call += 1) answers.push(verify(app));
  };
  await attack(() => answers.length >= 50);
  let isOver = false;
  upstream.fail(unavailable);
  // On a busy machine it fires before anything that comes later, so the burst never lasts longer.
  setTimeout(() => {
    upstream.behave(works);
    isOver = true;
  }, 100);
  await attack(() => isOver);
  const duringBurst = answers.length;
  await attack(() => answers.length >= duringBurst + 100);
  const outcomes = await Promise.all(answers);
  expect(outcomes.filter((outcome) => outcome?.proceed === true)).toEqual([]);
  expect(outcomes.slice(0, duringBurst).some((outcome) => outcome?.cause === 'TRANSPORT')).toBe(true);
  // Each one that came after it was sent, and has its verdict.
  const late = outcomes.slice(duringBurst);
  expect(late.filter((outcome) => outcome?.__typename !== 'CaptchaFailed')).toEqual([]);
  expect(outagesOf(app)).toEqual([]);
});
