import { describe, expect, type TestContext, test } from 'vitest';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { answer, reset } from '../support/hostile.ts';
import {
  elsewhere,
  expectGood,
  expectOverloaded,
  expectUnavailable,
  good,
  pause,
  SERVICES,
  type SwitchableUpstream,
  startSwitchable,
  until,
} from './concurrency.ts';
import { PAGE } from './documented.ts';
import { askTimed, CAPTCHA, FINGERPRINT, type Question, startAgainst, type Timed } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';

/** Upstreams that fail in part, from time to time, or in one region. The rest still works as before. */

const DEADLINE = 4_000;
/** Clearly less than the deadline, and more than an answer takes that does not wait, in ms. The stopwatch leaves out stalls. */
const QUICK = 3_000;
expectNothingUnhandled();

/** No answer takes as long as this if it waits for no call and no probe, in ms. */
const AT_ONCE_MS = 250;

/** So few that this process, which runs both sides, does not make them late. */
const AT_ONCE = 25;

/** Asks every 40 ms until it is over, unless too many wait for their answers; gives the answers in their order. */
async function askUntil(isOver: (asked: number) => boolean, app: TestApp, question: Question): Promise<Timed[]> {
  const asked: Promise<Timed>[] = [];
  let answered = 0;
  for (; !isOver(asked.length); await pause(40)) {
    if (asked.length - answered === AT_ONCE) continue;
    asked.push(askTimed(app, question).finally(() => (answered += 1)));
  }
  return Promise.all(asked);
}

/** Is over after this many ms, or later if a busy machine cannot ask 25 times in each second. */
function askFor(ms: number, app: TestApp, question: Question): Promise<Timed[]> {
  const end = performance.now() + ms;
  return askUntil((asked) => performance.now() > end && asked >= ms / 40, app, question);
}

function expectAllGoodAndQuick(question: Question, answers: readonly Timed[]): void {
  for (const { waited, ...answered } of answers) {
    expectGood(question, answered);
    expect(waited).toBeLessThan(QUICK);
  }
}

/** Waits until a probe has ended the outage. Until then no call is sent. */
async function untilWell(app: TestApp, question: Question): Promise<void> {
  await until(async () => isGood(await askTimed(app, question)));
}

const isGood = ({ text }: Timed) => /"DeviceFingerprint"|"CaptchaPassed"/.test(text);

function expectNothingWorseThanUnavailable(question: Question, answers: readonly Timed[], proceed: unknown): void {
  expectAllGoodAndQuick(question, answers.filter(isGood));
  for (const { waited, ...answered } of answers.filter((answered) => !isGood(answered))) {
    expectUnavailable(question, answered, proceed);
    expect(waited).toBeLessThan(QUICK);
  }
}

async function start({ onTestFinished }: TestContext) {
  const upstream = await startSwitchable(reset);
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, DEADLINE);
  onTestFinished(app.stop);
  return { upstream, app };
}

/** An app with an upstream that will fail and one that will not. `isDead` says which service and region has which. */
async function startHalfDead(
  { onTestFinished }: TestContext,
  question: Question,
  isDead: (service: 'fingerprint' | 'captcha', region: string) => boolean,
) {
  const dead = await startSwitchable(good(question));
  const alive = await startSwitchable(good(question));
  const baseUrl = (service: 'fingerprint' | 'captcha', region: string) => (isDead(service, region) ? dead : alive).url;
  const app = await startInLiveMode(
    { GLB: '', NA: '', EU: '' },
    {
      // The first answer to the probes of all accounts is a good one.
      upstreamCheck: 'all',
      fingerprintTimeoutMs: DEADLINE,
      captchaTimeoutMs: DEADLINE,
      fingerprintUrlGlb: baseUrl('fingerprint', 'GLB'),
      fingerprintUrlNa: baseUrl('fingerprint', 'NA'),
      fingerprintUrlEu: baseUrl('fingerprint', 'EU'),
      captchaUrlGlb: baseUrl('captcha', 'GLB'),
      captchaUrlNa: baseUrl('captcha', 'NA'),
      captchaUrlEu: baseUrl('captcha', 'EU'),
    },
  );
  for (const { stop } of [dead, alive, app]) onTestFinished(stop);
  return { dead, alive, app };
}

/** Every account whose outage is in the log. */
function outagesOf(app: TestApp): string[] {
  const found = app.logged().matchAll(/"service":"(\w+)","region":"(\w+)","account":"(\w+)","health":"outage"/g);
  return [...new Set([...found].map(([, ...names]) => names.join(' ')))];
}

/** Asks both: the account of the dead one is found to be down, and the other one answers every call as before. */
async function expectOnlyOneToSuffer(
  { dead, alive, app }: { dead: SwitchableUpstream; alive: SwitchableUpstream; app: TestApp },
  questions: { dead: Question; alive: Question },
): Promise<string> {
  dead.fail(reset);
  const isOver = () => outagesOf(app).length > 0;
  const [fromDead, fromAlive] = await Promise.all([
    askUntil(isOver, app, questions.dead),
    askUntil(isOver, app, questions.alive),
  ]);
  expectAllGoodAndQuick(questions.alive, fromAlive);
  expect(alive.requests()).toBe(fromAlive.length);
  expect(fromDead.filter(isGood)).toEqual([]);

  // From now on it gets no call, and nobody waits.
  const sent = dead.requests();
  for (const { waited, ...answered } of await askFor(400, app, questions.dead)) {
    expectUnavailable(questions.dead, answered, true);
    expect(waited).toBeLessThan(AT_ONCE_MS);
  }
  expect(dead.requests()).toBe(sent);
  expect(outagesOf(app)).toHaveLength(1);
  return outagesOf(app).join();
}

describe.concurrent.each(SERVICES)('%s', { timeout: 60_000 }, (service, question) => {
  test('half of the calls fail and the probes do not: the other calls are answered as before', async (context) => {
    const { upstream, app } = await start(context);
    let calls = 0;
    upstream.behave((exchange) => {
      calls += 1;
      (calls % 2 === 0 ? answer(503, PAGE) : good(question))(exchange);
    });
    const answers = await askFor(3_000, app, question);
    // The probes are answered, so no captcha proceeds, and every call is sent.
    expectNothingWorseThanUnavailable(question, answers, false);
    expect(answers.filter(isGood)).toHaveLength(Math.ceil(answers.length / 2));
    expect(calls).toBe(answers.length);
    expect(outagesOf(app)).toEqual([]);

    upstream.behave(good(question));
    expectAllGoodAndQuick(question, await askFor(400, app, question));
  });

  test('the service fails from time to time: no answer is worse than the service, and all succeed once it stays up', async (context) => {
    const { upstream, app } = await start(context);
    for (const behave of [reset, good(question), reset]) {
      const openBefore = upstream.open();
      if (behave === reset) upstream.fail(reset);
      else upstream.behave(behave);
      const answers = await askFor(1_500, app, question);
      // A call on a connection that was open before may have crossed an ordinary close, so it shows no outage.
      const crossed = answers.filter(({ text }) => text.includes('OVERLOADED'));
      for (const answered of crossed) expectOverloaded(question, answered);
      expect(crossed.length).toBeLessThanOrEqual(openBefore);
      const others = answers.filter((answered) => !crossed.includes(answered));
      // Whether one proceeds depends on what the probes have shown by then.
      expectNothingWorseThanUnavailable(question, others, expect.any(Boolean));
    }
    upstream.behave(good(question));
    await untilWell(app, question);
    expectAllGoodAndQuick(question, await askFor(400, app, question));
    const log = app.logged();
    expect(log).toContain('"health":"outage"');
    expect(log.lastIndexOf('"health":"well"')).toBeGreaterThan(log.lastIndexOf('"health":"outage"'));
  });

  test('a region that is dead gets no more calls, and another region serves', async (context) => {
    const half = await startHalfDead(context, question, (_service, region) => region === 'GLB');
    const outage = await expectOnlyOneToSuffer(half, { dead: question, alive: elsewhere(question) });
    expect(outage).toContain(`${service} GLB `);
  });

  test('a service that is dead gets no more calls, and the other service serves', async (context) => {
    const other = question === CAPTCHA ? FINGERPRINT : CAPTCHA;
    const half = await startHalfDead(context, other, (name) => name === service);
    const outage = await expectOnlyOneToSuffer(half, { dead: question, alive: other });
    expect(outage).toContain(`${service} `);
  });
});
