import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import { startInLiveMode } from '../support/app.ts';
import { type Challenge, solveChallenge } from '../support/challenges.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION } from '../support/graphql.ts';
import { ask, type GraphqlAnswer } from '../support/requests.ts';
import { ACCOUNTS } from './support.ts';

/** A bot tries to get past the captcha while the service is well: nothing of it proceeds, and people are not disturbed. */

/** How long a challenge of the sandbox lives, in ms. */
const LIFETIME_MS = 600_000;
const [FIRST, OF_NA, OF_EU] = [ACCOUNTS.GLB.captchaId, ACCOUNTS.NA.captchaId, ACCOUNTS.EU.captchaId];
const [DELETED, PAUSED] = ['d'.repeat(32), 'e'.repeat(32)];
const VALUES = ['lotNumber', 'captchaOutput', 'passToken', 'genTime'] as const;

type Input = Readonly<Record<string, unknown>>;

// Sound: no list here is empty, so the remainder is one of its indexes.
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
const changed = (text: string) => (text.startsWith('1') ? '2' : '1') + text.slice(1);
const causedBy = (who: string) => exceptions.filter(({ cause }) => cause === who).map(({ code }) => code);
const force = (lotNumber: string): Challenge => ({ ...CAPTCHA_INPUT, lotNumber });

/**
 * What a bot can send that solved nothing just now, each kind given a number that counts up.
 *
 * The sandbox lets a caller choose the exception as well (`sandbox:exception:`). Our own probes show that the service and the
 * captcha id are well, so even those that blame the service or the configuration do not proceed.
 *
 * @param solve has a person solve a challenge
 * @param used were good once
 * @param old are too old
 */
const attacks = (
  solve: (captchaId?: string, region?: 'NA' | 'EU') => Promise<Challenge>,
  used: readonly Challenge[],
  old: readonly Challenge[],
): Readonly<Record<string, (n: number) => Input | Promise<Input>>> => ({
  'used before': (n) => pick(used, n),
  'used before, under another captcha id': (n) => ({ ...pick(used, n), captchaId: OF_NA }),
  expired: (n) => pick(old, n),
  'never issued': () => force(randomBytes(16).toString('hex')),
  'one value altered': async (n) => {
    const solved = await solve();
    return { ...solved, [pick(VALUES, n)]: changed(solved[pick(VALUES, n)]) };
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
  empty: (n) => ({ ...pick(used, n), [pick(VALUES, n)]: '' }),
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
});

/** As many attempts of each kind as make every variant of it. */
const TURNS = Math.max(...['CLIENT', 'SERVICE', 'CONFIGURATION'].map((who) => causedBy(who).length), 6);

test('values that nobody solved neither pass nor proceed, and people who solved the captcha pass at the same time', async () => {
  const sandbox = await startSandbox({ port: 0 });
  onTestFinished(sandbox.stop);
  // So long that no call is late, however busy the machine is.
  const app = await startInLiveMode(sandbox.urls, { captchaTimeoutMs: 60_000 });
  onTestFinished(app.stop);
  const solve = (captchaId = FIRST, region: keyof typeof sandbox.urls = 'GLB') =>
    solveChallenge(sandbox.urls[region], captchaId);
  const solveMany = () => Promise.all(Array.from({ length: 5 }, () => solve()));
  const send = (input: Input) => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input });

  const old = await solveMany();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + LIFETIME_MS });
  onTestFinished(() => void vi.useRealTimers());
  const used = await solveMany();
  for (const challenge of used) await send(challenge);
  const attempts: Promise<{ kind: string; answered: GraphqlAnswer }>[] = [];
  const honest: Promise<GraphqlAnswer>[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [kind, make] of Object.entries(attacks(solve, used, old)))
      attempts.push((async () => ({ kind, answered: await send(await make(turn)) }))());
    honest.push(solve().then(send));
    await Promise.all([attempts.at(-1), honest.at(-1)]);
  }

  const expired: unknown[] = [];
  for (const { kind, answered } of await Promise.all(attempts)) {
    const { status, text, data, errors } = answered;
    expect(text, kind).not.toMatch(/"proceed":true|CaptchaPassed/);
    // Each answer is a failure or an error.
    const outcome = data?.validateCaptcha ?? errors?.[0]?.extensions;
    expect([200, 400], kind).toContain(status);
    expect(outcome, kind).toMatchObject(data?.validateCaptcha ? { proceed: false } : { code: 'BAD_USER_INPUT' });
    if (kind === 'expired') expired.push(outcome);
  }
  // The sandbox did judge those that it would have passed earlier.
  expect(expired).toContainEqual(expect.objectContaining({ category: 'PASS_TOKEN_EXPIRED' }));
  for (const { data } of await Promise.all(honest))
    expect(data).toMatchObject({ validateCaptcha: { __typename: 'CaptchaPassed', proceed: true } });
  // The bot had no effect: no outage was confirmed, and nothing was logged that wakes an operator.
  expect(app.logged()).not.toMatch(/"health":"outage"|INTERNAL_SERVER_ERROR/);
});
