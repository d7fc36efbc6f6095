import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import { startInLiveMode } from '../support/app.ts';
import { type Challenge, solveChallenge } from '../support/challenges.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { ask, type GraphqlAnswer } from '../support/requests.ts';
import { pause } from './concurrency.ts';
import { expectNothingUnhandled } from './process-watch.ts';

/**
 * A bot that sends captcha values which it did not solve, about 100 times a second, under the default policy: none passes
 * and none proceeds, and the people who come at the same time are not disturbed.
 *
 * The sandbox lets a caller choose the exception as well (`sandbox:exception:`). Our own probes show that the service and the
 * captcha id are well, so even those that blame the service or the configuration do not proceed.
 */

const LIFETIME_MS = 2_000;
const ATTACK_MS = 5_000;
/** How many attempts and honest visits there are at least, however busy the machine is. */
const [ATTEMPTS, VISITS] = [200, 11];

expectNothingUnhandled();

const sandbox = await startSandbox({ host: '127.0.0.1', port: 0, challengeLifetimeMs: LIFETIME_MS });
const app = await startInLiveMode(sandbox.urls);
afterAll(async () => {
  await app.stop();
  await sandbox.stop();
});

const [FIRST, OF_NA, OF_EU, DELETED, PAUSED] = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(32));

type Input = Readonly<Record<string, unknown>>;

/** A challenge that a person solved. */
const solve = (captchaId = FIRST, region: keyof typeof sandbox.urls = 'GLB'): Promise<Challenge> =>
  solveChallenge(sandbox.urls[region], captchaId);

const verify = (input: Input) => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input });
const solveMany = (count: number) => Promise.all(Array.from({ length: count }, () => solve()));

/** Values that were good once, taken in turns. */
const used = await solveMany(5);
for (const challenge of used) await verify(challenge);
const old = await solveMany(5);
const expiredAt = performance.now() + LIFETIME_MS + 100;

const causedBy = (who: string) => exceptions.filter(({ cause }) => cause === who).map(({ code }) => code);
const force = (lotNumber: string): Challenge => ({ lotNumber, captchaOutput: 'o', passToken: 'p', genTime: '1' });
// Sound: no list here is empty, so the remainder is one of its indexes.
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
const changed = (text: string) => (text.startsWith('1') ? '2' : '1') + text.slice(1);

/** What the bot tries, each given a number that counts up. */
const ATTACKS: Readonly<Record<string, (n: number) => Input | Promise<Input>>> = {
  'used before': (n) => pick(used, n),
  'used before, under another captcha id': (n) => ({ ...pick(used, n), captchaId: OF_NA }),
  expired: (n) => (performance.now() > expiredAt ? pick(old, n) : pick(used, n)),
  'never issued': () => force(randomBytes(16).toString('hex')),
  'one value altered': async (n) => {
    const solved = await solve();
    const name = pick(['lotNumber', 'captchaOutput', 'passToken', 'genTime'] as const, n);
    return { ...solved, [name]: changed(solved[name]) };
  },
  'of two challenges': async () => ({ ...(await solve()), passToken: (await solve()).passToken }),
  'of another captcha id': async () => ({ ...(await solve(OF_NA, 'NA')), captchaId: FIRST }),
  'of another region': async () => ({ ...(await solve(OF_EU, 'EU')), captchaId: OF_NA }),
  'for a captcha id that is paused or deleted': async (n) => ({
    ...(await solve()),
    captchaId: pick([DELETED, PAUSED], n),
  }),
  'for a captcha id that nobody has': async (n) => ({
    ...(await solve()),
    captchaId: pick(['z'.repeat(32), '', '__proto__', 'constructor', `${FIRST}&captcha_id=${PAUSED}`], n),
  }),
  'with more parameters in a value': async (n) => {
    const solved = await solve();
    const extra = pick(['&result=success', `&captcha_id=${PAUSED}`, '&sign_token=0', '%26lot_number=1', '#', '?'], n);
    return { ...solved, passToken: solved.passToken + extra };
  },
  empty: (n) => ({ ...pick(used, n), [pick(['lotNumber', 'captchaOutput', 'passToken', 'genTime'], n)]: '' }),
  'far too long': (n) => ({ ...pick(used, n), captchaOutput: 'x'.repeat(pick([4_097, 60_000, 120_000], n)) }),
  'as long as is taken': (n) => ({ ...pick(used, n), captchaOutput: '\u{1f9e9}'.repeat(2_048) }),
  'with control characters': (n) => ({
    ...pick(used, n),
    lotNumber: `lot${pick(['\u0000', '\r\n', '\u001b[2J', '\u0085'], n)}`,
  }),
  'with half a character': (n) => ({
    ...pick(used, n),
    lotNumber: `lot${pick(['\ud800', '\udfff', '\udc00\ud800'], n)}`,
  }),
  'with a time that is none': (n) => ({
    ...pick(used, n),
    genTime: pick(['yesterday', '-1', '1e9', '١', '0x10', '9'.repeat(21)], n),
  }),
  'of another type': (n) => ({ ...pick(used, n), passToken: pick([true, 1, null, [], {}, ['p']], n) }),
  'that ask for a "no"': (n) =>
    force(`sandbox:fail:${pick(['success', '', 'pass_token expire', '"result":"success"'], n)}`),
  'that ask for an exception of a client': (n) => force(`sandbox:exception:${pick(causedBy('CLIENT'), n)}`),
  'that ask for an exception of the service': (n) => force(`sandbox:exception:${pick(causedBy('SERVICE'), n)}`),
  'that ask for a captcha id out of order': (n) => ({
    ...force(`sandbox:exception:${pick(causedBy('CONFIGURATION'), n)}`),
    captchaId: pick([FIRST, OF_NA], n),
  }),
};

interface Attempt {
  readonly kind: string;
  readonly answered: GraphqlAnswer;
}

async function attack(until: number): Promise<Attempt[]> {
  const kinds = Object.entries(ATTACKS);
  const attempts: Promise<Attempt>[] = [];
  for (let n = 0; n < ATTEMPTS || performance.now() < until; n += 1) {
    const [kind, make] = pick(kinds, n);
    const attempt = async () => ({ kind, answered: await verify(await make(Math.floor(n / kinds.length))) });
    attempts.push(attempt());
    await pause(10);
  }
  return Promise.all(attempts);
}

async function beHonest(until: number): Promise<GraphqlAnswer[]> {
  const answers: GraphqlAnswer[] = [];
  for (; answers.length < VISITS || performance.now() < until; await pause(100)) {
    answers.push(await verify(await solve()));
  }
  return answers;
}

test('no attempt passes or proceeds, and people who solved the captcha pass at the same time', {
  timeout: 30_000,
}, async () => {
  const end = performance.now() + ATTACK_MS;
  const [attempts, honest] = await Promise.all([attack(end), beHonest(end)]);

  expect(new Set(attempts.map(({ kind }) => kind))).toEqual(new Set(Object.keys(ATTACKS)));
  for (const { kind, answered } of attempts) {
    const { status, text, data, errors } = answered;
    expect(text, kind).not.toMatch(/"proceed":true|CaptchaPassed/);
    // Each answer is a failure or an error.
    const outcome = data?.validateCaptcha ?? errors?.[0]?.extensions;
    expect([200, 400], kind).toContain(status);
    expect(outcome, kind).toMatchObject(data?.validateCaptcha ? { proceed: false } : { code: 'BAD_USER_INPUT' });
  }
  // The sandbox did judge those that it would have passed earlier.
  const expired = attempts
    .filter(({ kind }) => kind === 'expired')
    .map(({ answered }) => answered.data.validateCaptcha);
  expect(expired).toContainEqual(expect.objectContaining({ category: 'PASS_TOKEN_EXPIRED' }));

  for (const { data } of honest)
    expect(data).toMatchObject({ validateCaptcha: { __typename: 'CaptchaPassed', proceed: true } });
  // The bot had no effect: no outage was confirmed, and nothing was logged that wakes an operator.
  expect(app.logged()).not.toMatch(/"health":"outage"|INTERNAL_SERVER_ERROR/);
});
