import { expect, vi } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { DEFAULTS, type TestApp } from '../support/app.ts';
import {
  answer,
  answersProbes,
  type Behaviour,
  type Hostile,
  type RawRequest,
  startHostile,
} from '../support/hostile.ts';
import { ask, type GraphqlAnswer } from '../support/requests.ts';
import { CAPTCHA, expectData, expectError, FINGERPRINT, type Question } from './expectations.ts';
import { NO_ANSWER } from './fault-table.ts';

/** Many calls at once to one upstream whose behaviour the test switches. */

export const SERVICES: readonly [string, Question][] = [
  ['fingerprint', FINGERPRINT],
  ['captcha', CAPTCHA],
];

/** One request may verify as many captchas as it may ask about tokens. */
export const HIGH_LIMITS = { maxCaptchas: DEFAULTS.maxUpstreamCalls };

/** One operation that makes so many calls, at most 100. */
export function many({ field, variables }: Question, count: number): Omit<Question, 'good'> {
  const aliases = (call: (index: number) => string) => Array.from({ length: count }, (_, i) => `a${i}: ${call(i)}`);
  const query =
    field === 'deviceFingerprint'
      ? `{ ${aliases((i) => `deviceFingerprint(token: "t${i}") { __typename }`).join(' ')} }`
      : `mutation ($input: ValidateCaptchaInput!) { ${aliases(() => 'validateCaptcha(input: $input) { proceed }').join(' ')} }`;
  return { field, query, variables: field === 'deviceFingerprint' ? {} : variables };
}

/** The same question, in region NA instead of GLB. */
export function elsewhere(question: Question): Question {
  const { field, variables } = question;
  const there =
    field === 'deviceFingerprint'
      ? { ...variables, publicKey: 'pk_sandbox_na' }
      : { input: { ...Object(variables['input']), captchaId: 'b'.repeat(32) } };
  return { ...question, variables: there };
}

/** Asks the same question so many times at once, each in a request of its own. */
export function crowd(app: TestApp, question: Question, count: number): Promise<GraphqlAnswer[]> {
  return gather(app, question, count).all;
}

/** The same, with the answers so far, in the order in which they arrived. */
export function gather({ graphqlUrl }: TestApp, { query, variables }: Question, count: number) {
  const answers: GraphqlAnswer[] = [];
  const asked = Array.from({ length: count }, async () => answers.push(await ask(graphqlUrl, query, variables)));
  return { answers, all: Promise.all(asked).then(() => answers) };
}

/** How many calls to the services wait in a queue now, by the app's own metrics. */
export async function queuedCalls(app: TestApp): Promise<number> {
  const { samples } = await readMetrics(app);
  const queued = samples.filter(({ name }) => name === 'device_trust_upstream_queued');
  return queued.reduce((sum, { value }) => sum + value, 0);
}

/** An upstream whose behaviour a test switches. */
export interface SwitchableUpstream extends Pick<Hostile, 'url' | 'stop'> {
  readonly requests: () => number;
  /** Connections that are open now. */
  readonly open: () => number;
  /** Sets what it does to calls, and what it does to probes: they get their documented answers unless the test says otherwise. */
  behave(behave: Behaviour, probe?: Behaviour): void;
  /** Does this to calls and probes alike, as in an outage. */
  fail(behave: Behaviour): void;
  /** Probes that have arrived. */
  readonly probes: () => number;
  /** From now on holds each request without an answer. Returns the requests that it holds. */
  hold(): readonly RawRequest[];
}

export async function startSwitchable(first: Behaviour): Promise<SwitchableUpstream> {
  let current = first;
  let currentProbe = answersProbes;
  let probes = 0;
  const hostile = await startHostile((exchange) => current(exchange), {
    probe: (exchange) => {
      probes += 1;
      currentProbe(exchange);
    },
  });
  const behave = (next: Behaviour, nextProbe = answersProbes) => {
    current = next;
    currentProbe = nextProbe;
  };
  return {
    url: hostile.url,
    stop: hostile.stop,
    requests: () => hostile.requests,
    open: () => hostile.open,
    behave,
    fail: (next) => behave(next, next),
    probes: () => probes,
    hold: () => {
      const held: RawRequest[] = [];
      current = (exchange) => held.push(exchange);
      return held;
    },
  };
}

export const good = ({ good: body }: Question) => answer(200, body);

/** The documented good answer, as data. */
export function expectGood(question: Question, answered: GraphqlAnswer): void {
  const __typename = question.field === 'deviceFingerprint' ? 'DeviceFingerprint' : 'CaptchaPassed';
  expectData(answered, question.field, { __typename });
}

/** Expects the answer for an upstream that is not available; `proceed` says whether probes have confirmed that. */
export function expectUnavailable(question: Question, answered: GraphqlAnswer, proceed: unknown = false): void {
  if (question.field === 'deviceFingerprint') expectError(answered, 'UPSTREAM_UNAVAILABLE');
  else expectData(answered, question.field, { ...NO_ANSWER, proceed });
}

/** One of our own limits: an error for either service, and for captcha no outcome that could proceed. */
export function expectOverloaded({ field }: Question, { data, errors }: GraphqlAnswer): void {
  expect(data).toEqual({ [field]: null });
  expect(errors).toMatchObject([{ path: [field], extensions: { code: 'OVERLOADED', retryable: true } }]);
}

/** Waits for something that is bound to happen, in concurrent tests as well. The limit only ends a test that has failed. */
export const until = (happened: () => boolean | Promise<boolean>) =>
  vi.waitUntil(happened, { timeout: 30_000, interval: 10 });

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
