import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { startHostile } from '../support/hostile.ts';
import { ask, type GraphqlAnswer } from '../support/requests.ts';
import { HIGH_LIMITS } from './concurrency.ts';
import { startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';
import { type HostileAnswer, isPass, makeAnswer, saysNo, speaksOfSuccess } from './random-answers.ts';
import { createLogCheck, expectKnownErrors, lists, TEN_THOUSAND } from './random-inputs.ts';

/** What holds for every answer of an upstream, tried on ten thousand hostile ones of each service. */

/** Answers that one operation asks for. */
const BATCH = 50;
/** Captchas that are verified at the same time. */
const AT_ONCE = 500;
const OPTIONS = { timeout: 300_000 };

expectNothingUnhandled();

const lotNumber = (index: number) => `q${index}.`;
const each = (make: (index: number) => string) => Array.from({ length: BATCH }, (_, index) => make(index)).join(' ');

const JUDGE = `{ ${each((i) => `a${i}: deviceFingerprint(token: "q${i}.") { ...F }`)} }
  fragment F on DeviceFingerprintResult {
    __typename
    ... on DeviceFingerprint {
      requestId clientType deviceBasic { ... on Web { browser { name additional } } ... on Mobile { model } }
      signals { name code level confidence effect }
    }
    ... on DeviceFingerprintRejected { reason errors { field reason type } }
  }`;

const VERIFY = `mutation { ${each((i) => `a${i}: validateCaptcha(input: { lotNumber: "${lotNumber(i)}", captchaOutput: "o", passToken: "p", genTime: "1" }) { ...V }`)} }
  fragment V on CaptchaValidation {
    __typename proceed
    ... on CaptchaFailed { reason } ... on CaptchaIndeterminate { cause code type }
  }`;

/** Asks for `TEN_THOUSAND` answers; `check` gets each with what became of it, its name and all the errors. */
async function tryAll(
  service: 'fingerprint' | 'captcha',
  check: (answer: HostileAnswer, index: number, outcome: GraphqlAnswer['data'], errors: readonly unknown[]) => void,
): Promise<void> {
  let answers: readonly HostileAnswer[] = [];
  const upstream = await startHostile(({ socket, request }) => {
    const [, index = ''] = /\bq(\d+)\./.exec(request) ?? [];
    socket.write(answers[Number(index)]?.bytes ?? '');
  });
  onTestFinished(upstream.stop);
  // With the default policy each captcha without a verdict would wait for a probe.
  const app = await startAgainst(upstream, 10_000, { ...HIGH_LIMITS, captchaFailOpen: 'never' });
  onTestFinished(app.stop);
  const expectCleanLog = createLogCheck(app);
  await fc.assert(
    fc.asyncProperty(lists(BATCH, 60), async (all) => {
      answers = all.map((numbers, index) => makeAnswer(service, lotNumber(index), numbers));
      const { status, data, errors = [] } = await ask(app.graphqlUrl, service === 'captcha' ? VERIFY : JUDGE);
      expect(status).toBe(200);
      expectKnownErrors(errors);
      for (const [index, answer] of answers.entries()) {
        const alias = `a${index}`;
        check(
          answer,
          index,
          data[alias],
          errors.filter(({ path }) => path?.[0] === alias),
        );
      }
      expectCleanLog();
    }),
    { numRuns: TEN_THOUSAND / BATCH },
  );
  // Each answer was asked for: no outage was confirmed.
  expect(upstream.requests).toBeGreaterThanOrEqual(TEN_THOUSAND);
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
}

test('only a documented answer of the fingerprint service becomes a judgement', OPTIONS, async () => {
  let judged = 0;
  await tryAll('fingerprint', (answer, _index, outcome, errors) => {
    expect(errors).toHaveLength(outcome ? 0 : 1);
    if (outcome?.__typename === 'DeviceFingerprintRejected') expect(answer.status).toBe(400);
    if (outcome?.__typename !== 'DeviceFingerprint') return;
    judged += 1;
    expect([answer.status, JSON.parse(answer.body.toString()).code]).toEqual([200, 200]);
    for (const { level, confidence } of outcome.signals) {
      expect(['LOW', 'MEDIUM', 'HIGH']).toContain(level);
      expect(confidence >= 0 && confidence <= 1).toBe(true);
    }
  });
  expect(judged).toBeGreaterThan(TEN_THOUSAND / 20);
});

test('only the documented pass for this challenge passes, of all answers of the captcha service', OPTIONS, async () => {
  let passed = 0;
  await tryAll('captcha', (answer, index, { __typename, proceed, cause }, errors) => {
    expect(errors).toEqual([]);
    const hasPassed = __typename === 'CaptchaPassed';
    if (hasPassed) passed += 1;
    // HTTP may lose what it cannot carry, but a verdict never becomes better.
    if (answer.isPlain || hasPassed) expect(hasPassed).toBe(isPass(answer, lotNumber(index)));
    if (answer.isPlain && saysNo(answer)) expect(__typename).toBe('CaptchaFailed');
    // Whatever judges the challenge never proceeds, whichever policy there is but `always`.
    const isUnclear = __typename === 'CaptchaIndeterminate';
    if (answer.isPlain && speaksOfSuccess(answer) && isUnclear) expect(cause).toBe('CLIENT');
    expect(proceed).toBe(hasPassed);
  });
  expect(passed).toBeGreaterThan(TEN_THOUSAND / 20);
});

test('under the default policy, nothing but the pass proceeds while probes are answered', OPTIONS, async () => {
  const [answers = []] = fc
    .sample(lists(AT_ONCE, 60), { numRuns: 1 })
    .map((all) => all.map((numbers, index) => makeAnswer('captcha', lotNumber(index), numbers)));
  const upstream = await startHostile(({ socket, request }) => {
    const [, index = ''] = /\bq(\d+)\./.exec(request) ?? [];
    socket.write(answers[Number(index)]?.bytes ?? '');
  });
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, 10_000);
  onTestFinished(app.stop);
  const outcomes = await Promise.all(
    answers.map(async (_answer, index) => {
      const input = { lotNumber: lotNumber(index), captchaOutput: 'o', passToken: 'p', genTime: '1' };
      const { data, errors } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input });
      return data.validateCaptcha ?? errors?.[0]?.extensions;
    }),
  );
  for (const [index, answer] of answers.entries()) {
    const { __typename, proceed = false } = outcomes[index];
    expect(proceed, answer.body.toString()).toBe(__typename === 'CaptchaPassed');
    if (proceed) expect(isPass(answer, lotNumber(index))).toBe(true);
  }
  const unclear = outcomes.filter(({ cause }) => cause === 'TRANSPORT' || cause === 'SERVICE');
  expect(unclear.length).toBeGreaterThan(AT_ONCE / 20);
});
