import { expect, type TestContext, vi } from 'vitest';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import type { Config } from '../../src/settings/variables.ts';
import { readMetrics } from '../observability/exposition.ts';
import { DEFAULTS, startInLiveMode, type TestApp } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import {
  answer,
  answersProbes,
  type Behaviour,
  type Hostile,
  type RawRequest,
  startHostile,
} from '../support/hostile.ts';
import { ask, type GraphqlAnswer } from '../support/requests.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { untilEnd } from '../support/until-end.ts';
import { ANDROID, LOT_NUMBER, PASS } from './documented.ts';
import { RETRYABLE, type UpstreamCode } from './fault-table.ts';

/** What these tests ask, the upstreams that they switch, and what they expect of an answer. */

/** What a frontend asks of an upstream, and that upstream's good answer. */
export interface Question {
  readonly field: 'deviceFingerprint' | 'validateCaptcha';
  readonly good: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Nothing of these may be logged: credentials, and what identifies a person or a session. */
const PRIVATE = {
  token: 'token-of-a-device',
  phone: '+49 30 901820',
  email: 'someone@mail.example',
  captchaOutput: 'output-of-the-widget',
  passToken: 'pass-token-of-the-widget',
};

export const FINGERPRINT: Question = {
  field: 'deviceFingerprint',
  good: JSON.stringify(ANDROID),
  query: FINGERPRINT_QUERY,
  variables: { token: PRIVATE.token, metadata: { phoneNum: PRIVATE.phone, email: PRIVATE.email } },
};

const { captchaOutput, passToken } = PRIVATE;
export const CAPTCHA: Question = {
  field: 'validateCaptcha',
  good: JSON.stringify(PASS),
  query: CAPTCHA_MUTATION,
  variables: { input: { lotNumber: LOT_NUMBER, captchaOutput, passToken, genTime: '17' } },
};

export const SERVICES: readonly [string, Question][] = [
  ['fingerprint', FINGERPRINT],
  ['captcha', CAPTCHA],
];

export type Region = 'GLB' | 'NA' | 'EU';

/** The accounts of the sandbox that are in order, by their regions. */
export const ACCOUNTS = {
  GLB: { publicKey: 'pk_sandbox_glb', captchaId: 'a'.repeat(32) },
  NA: { publicKey: 'pk_sandbox_na', captchaId: 'b'.repeat(32) },
  EU: { publicKey: 'pk_sandbox_eu', captchaId: 'c'.repeat(32) },
} as const;

/** The same question for the account of this region. */
export function inRegion(question: Question, region: Region): Question {
  const { field, variables } = question;
  const { publicKey, captchaId } = ACCOUNTS[region];
  const there =
    field === 'deviceFingerprint'
      ? { ...variables, publicKey }
      : { input: { ...Object(variables['input']), captchaId } };
  return { ...question, variables: there };
}

/** One request may verify as many captchas as it may ask about tokens. */
export const HIGH_LIMITS = { maxCaptchas: DEFAULTS.maxUpstreamCalls };

/** An upstream whose behaviour a test switches. */
export interface SwitchableUpstream extends Hostile {
  /** Sets what it does to calls, and what it does to probes: they get their documented answers unless the test says otherwise. */
  behave(behave: Behaviour, probe?: Behaviour): void;
  /** Does this to calls and probes alike, as in an outage. */
  fail(behave: Behaviour): void;
  /** From now on holds each request without an answer. Returns the requests that it holds. */
  hold(): readonly RawRequest[];
}

type Options = NonNullable<Parameters<typeof startHostile>[1]>;

export async function startSwitchable(first: Behaviour, options: Options = {}): Promise<SwitchableUpstream> {
  let current = first;
  let currentProbe = options.probe ?? answersProbes;
  const probe: Behaviour = (exchange) => currentProbe(exchange);
  const hostile = await startHostile((exchange) => current(exchange), { ...options, probe });
  const behave = (next: Behaviour, nextProbe = answersProbes) => {
    current = next;
    currentProbe = nextProbe;
  };
  return Object.assign(hostile, {
    behave,
    fail: (next: Behaviour) => behave(next, next),
    hold: () => {
      const held: RawRequest[] = [];
      current = (exchange) => held.push(exchange);
      return held;
    },
  });
}

/** The app in live mode with one upstream for everything and one deadline. */
export function startAgainst(
  { url }: Pick<Hostile, 'url'>,
  deadlineMs: number,
  overrides: Partial<Config> = {},
): Promise<TestApp> {
  return startInLiveMode(url, { fingerprintTimeoutMs: deadlineMs, captchaTimeoutMs: deadlineMs, ...overrides });
}

/** Both for the time of one test. */
export async function startBoth(
  context: Pick<TestContext, 'onTestFinished'>,
  first: Behaviour,
  deadlineMs: number,
  overrides: Partial<Config> = {},
  probe = answersProbes,
): Promise<{ upstream: SwitchableUpstream; app: TestApp }> {
  const upstream = await untilEnd(startSwitchable(first, { probe }), context);
  const app = await untilEnd(startAgainst(upstream, deadlineMs, overrides), context);
  return { upstream, app };
}

/** What was answered, and after how many ms. */
export interface Timed extends GraphqlAnswer {
  readonly elapsed: number;
  /** The same without the time in which a busy machine did not let this process run. */
  readonly waited: number;
}

export async function askTimed({ graphqlUrl }: TestApp, { query, variables }: Question): Promise<Timed> {
  const start = performance.now();
  const stopwatch = startStopwatch();
  const answered = await ask(graphqlUrl, query, variables);
  return { ...answered, elapsed: performance.now() - start, waited: stopwatch() };
}

/** Asks the same question so many times at once, each in a request of its own. */
export function crowd(app: TestApp, question: Question, count: number): Promise<Timed[]> {
  return gather(app, question, count).all;
}

/** The same, with the answers so far, in the order in which they arrived. */
export function gather(app: TestApp, question: Question, count: number) {
  const answers: Timed[] = [];
  const asked = Array.from({ length: count }, async () => answers.push(await askTimed(app, question)));
  return { answers, all: Promise.all(asked).then(() => answers) };
}

const ATTESTED_MUTATION = `mutation ($input: ValidateCaptchaInput!) {
  validateCaptcha(input: $input) { __typename proceed attestation ... on CaptchaIndeterminate { cause code type message } }
}`;

/** Has a captcha verified. Gives its outcome; if there is none, what the error says. */
export async function verify(
  { graphqlUrl }: Pick<TestApp, 'graphqlUrl'>,
  input: object = {},
  headers: Readonly<Record<string, string>> = {},
) {
  const { data, errors } = await ask(graphqlUrl, ATTESTED_MUTATION, { input: { ...CAPTCHA_INPUT, ...input } }, headers);
  return data?.validateCaptcha ?? errors?.[0]?.extensions;
}

/** How many calls to the services wait in a queue now, by the app's own metrics. */
export async function queuedCalls(app: TestApp): Promise<number> {
  const { samples } = await readMetrics(app);
  const queued = samples.filter(({ name }) => name === 'device_trust_upstream_queued');
  return queued.reduce((sum, { value }) => sum + value, 0);
}

/** Waits for something that is bound to happen, in concurrent tests as well. The limit only ends a test that has failed. */
export const until = (happened: () => boolean | Promise<boolean>) =>
  vi.waitUntil(happened, { timeout: 60_000, interval: 10 });

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const good = ({ good: body }: Question) => answer(200, body);

/** The documented good answer, as data. */
export function expectGood(question: Question, answered: GraphqlAnswer): void {
  const __typename = question.field === 'deviceFingerprint' ? 'DeviceFingerprint' : 'CaptchaPassed';
  expectData(answered, question.field, { __typename });
}

/** One of our own limits: an error for either service, and for captcha no outcome that could proceed. */
export function expectOverloaded({ field }: Question, { data, errors }: GraphqlAnswer): void {
  expect(data).toEqual({ [field]: null });
  expect(errors).toMatchObject([{ path: [field], extensions: { code: 'OVERLOADED', retryable: true } }]);
}

/** An error of the field, with the HTTP status of an answer. */
export function expectError({ status, data, errors }: GraphqlAnswer, code: UpstreamCode): void {
  expect({ status, data }).toEqual({ status: 200, data: { deviceFingerprint: null } });
  expect(errors).toMatchObject([{ path: ['deviceFingerprint'], extensions: { code, retryable: RETRYABLE[code] } }]);
  expect(errors).toHaveLength(1);
}

/** Data of the field, which holds at least this. */
export function expectData({ status, data, errors }: GraphqlAnswer, field: string, atLeast: object): void {
  expect({ status, errors }).toEqual({ status: 200, errors: undefined });
  expect(data[field]).toMatchObject(atLeast);
}

const SECRETS = [
  ...SANDBOX_APPLICATIONS.map(({ secret }) => secret),
  ...SANDBOX_CAPTCHAS.map(({ captchaKey }) => captchaKey),
];
const INTERNAL = [
  ...['127.0.0.1', 'localhost', 'econn', 'und_err', 'undici', 'socket', 'stack', 'node:', '<html'],
  'page of the upstream',
];

/** Expects that the answer contains nothing internal, and the log no secret and no personal data. */
export function expectDiscretion({ text }: GraphqlAnswer, app: TestApp, ports: readonly number[]): void {
  const answered = text.toLowerCase();
  const log = app.logged();
  const forbidden = [...SECRETS, ...Object.values(PRIVATE)];
  for (const word of [...forbidden, ...INTERNAL, ...ports.map(String)])
    expect(answered).not.toContain(word.toLowerCase());
  // The percent-encoded form would reveal as much.
  for (const word of forbidden) for (const form of [word, encodeURIComponent(word)]) expect(log).not.toContain(form);
}
