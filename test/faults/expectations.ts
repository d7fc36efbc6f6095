import { expect } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask, type GraphqlAnswer } from '../support/requests.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { ANDROID, LOT_NUMBER, PASS } from './documented.ts';
import { RETRYABLE, type Target, type UpstreamCode } from './fault-table.ts';

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

export const CAPTCHA: Question = {
  field: 'validateCaptcha',
  good: JSON.stringify(PASS),
  query: CAPTCHA_MUTATION,
  variables: {
    input: {
      lotNumber: LOT_NUMBER,
      captchaOutput: PRIVATE.captchaOutput,
      passToken: PRIVATE.passToken,
      genTime: '17',
    },
  },
};

/** The app in live mode with one upstream for everything and one deadline. */
export function startAgainst(
  { url }: Pick<Target, 'url'>,
  deadlineMs: number,
  overrides: Partial<Config> = {},
): Promise<TestApp> {
  const urls = { GLB: url, NA: url, EU: url };
  return startInLiveMode(urls, { fingerprintTimeoutMs: deadlineMs, captchaTimeoutMs: deadlineMs, ...overrides });
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
  const answer = await ask(graphqlUrl, query, variables);
  return { ...answer, elapsed: performance.now() - start, waited: stopwatch() };
}

/** An error of the field (design, section 1), with the HTTP status of an answer. */
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
  '127.0.0.1',
  'localhost',
  'econn',
  'und_err',
  'undici',
  'socket',
  'stack',
  'node:',
  '<html',
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
