import { describe, expect, test } from 'vitest';
import { ANDROID, exception, FAIL, LOT_NUMBER, PASS } from '../faults/documented.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, type Behaviour, reset } from '../support/hostile.ts';
import { readMetrics } from './exposition.ts';
import { aboutTokens, send, startAgainst, startSandboxed } from './support.ts';

/** What the metrics say of devices and captchas: what was found, and whether the catalogue still holds. */

describe('a captcha counts by what came out, why, and whether the request may proceed', () => {
  const OTHER = 'b'.repeat(32);
  interface Special {
    readonly captchaId?: string;
    readonly policy?: 'always' | 'never';
  }
  const says = (body: string, status = 200) => answer(status, body);
  const failed = (reason: string) => says(JSON.stringify({ ...FAIL, reason }));

  test.each<[string, string, string, string, Behaviour, Special?]>([
    ['CaptchaPassed', '', 'true', 'a pass', says(JSON.stringify(PASS))],
    ['CaptchaFailed', 'PASS_TOKEN_EXPIRED', 'false', 'a pass token that expired', failed('pass_token expire')],
    ['CaptchaFailed', 'LOT_NUMBER_MISMATCH', 'false', 'another lot number', failed('lot_number not match')],
    ['CaptchaFailed', 'ILLEGAL_SIGN_TOKEN', 'false', 'a wrong key', failed('illegal sign_token')],
    ['CaptchaFailed', 'OTHER', 'false', 'a reason that is new', failed('of a new kind')],
    ['CaptchaIndeterminate', 'CLIENT', 'false', 'values used twice', says(exception('-50308', 'payload Used'))],
    ['CaptchaIndeterminate', 'CLIENT', 'false', 'a firewall', says('<html>', 403)],
    ['CaptchaIndeterminate', 'CONFIGURATION', 'true', 'a paused id', says(exception('-50105', 'paused'))],
    [
      'CaptchaIndeterminate',
      'CONFIGURATION',
      'false',
      "a paused id of the caller's choice",
      says(exception('-50105', 'paused')),
      { captchaId: OTHER },
    ],
    ['CaptchaIndeterminate', 'SERVICE', 'true', 'a failure that it admits', says(exception('-50000', 'runtime error'))],
    ['CaptchaIndeterminate', 'TRANSPORT', 'true', 'a reset', reset],
    ['CaptchaIndeterminate', 'TRANSPORT', 'false', 'a reset, and never', reset, { policy: 'never' }],
    ['CaptchaIndeterminate', 'CLIENT', 'true', 'a firewall, and always', says('', 403), { policy: 'always' }],
  ])('%s %s %s for %s', async (type, cause, proceed, _what, behave, { captchaId, policy }: Special = {}) => {
    const { app } = await startAgainst(behave, { captchaFailOpen: policy ?? 'faults' });
    const input = { lotNumber: LOT_NUMBER, captchaOutput: 'o', passToken: 'p', genTime: '1', captchaId };
    await send(app, { query: CAPTCHA_MUTATION, variables: { input } });
    const { samples } = await readMetrics(app);
    const outcomes = samples.filter(({ name }) => name === 'device_trust_captcha_outcomes_total');
    expect(outcomes.map(({ labels, value }) => [labels, value])).toEqual([[{ type, cause, proceed }, 1]]);
  });

  test('but not if the question was not asked', async () => {
    const app = await startSandboxed();
    const input = { lotNumber: '', captchaOutput: 'o', passToken: 'p', genTime: '1' };
    await send(app, { query: CAPTCHA_MUTATION, variables: { input } });
    const { samples } = await readMetrics(app);
    expect(samples.filter(({ name }) => name === 'device_trust_captcha_outcomes_total')).toEqual([]);
  });
});

/** What the metrics say of judgements with these signals, asked about under that many aliases. */
async function countedWith(signals: readonly object[], aliases = 1) {
  const judged = { ...ANDROID, data: { ...ANDROID.data, signals } };
  const { app } = await startAgainst(answer(200, JSON.stringify(judged)));
  await send(app, { query: aboutTokens(Array(aliases).fill('one-token')) });
  const { samples } = await readMetrics(app);
  const countsOf = (metric: string) =>
    samples
      .filter(({ name, value }) => name === metric && value > 0)
      .map(({ labels, value }) => [...Object.values(labels), value]);
  return {
    signals: countsOf('device_trust_signals_total'),
    drift: countsOf('device_trust_catalogue_drift_total'),
  };
}

// Level and confidence of each: fingerprint document, 2.9.
const EMULATOR = { signal: 'EMULATOR', level: 'HIGH', confidence: 0.95 };
const VPN_ENABLED = { signal: 'VPN_ENABLED', level: 'LOW', confidence: 1 };

describe('signals count by code and level', () => {
  test('once for each judgement, however many fields show it', async () => {
    expect(await countedWith([EMULATOR, VPN_ENABLED], 10)).toEqual({
      signals: [
        ['EMULATOR', 'HIGH', 1],
        ['VPN_ENABLED', 'LOW', 1],
      ],
      drift: [],
    });
  });

  test('again for the next operation', async () => {
    const app = await startSandboxed();
    for (let round = 0; round < 3; round += 1) await send(app, { query: aboutTokens(['sandbox:android:EMULATOR']) });
    const { value } = await readMetrics(app);
    expect(value('device_trust_signals_total', { code: 'EMULATOR', level: 'HIGH' })).toBe(3);
  });

  test('a clean device counts none', async () => {
    expect(await countedWith([])).toEqual({ signals: [], drift: [] });
  });
});

describe('what is unlike the catalogue is a drift', () => {
  test.each<[string, object, readonly unknown[]]>([
    ['unknown_signal', { ...EMULATOR, signal: 'QUANTUM_EMULATOR' }, ['unknown', 'HIGH', 1]],
    ['unknown_signal', { ...EMULATOR, signal: 'constructor' }, ['unknown', 'HIGH', 1]],
    ['unknown_signal', { ...EMULATOR, signal: 'emulator' }, ['unknown', 'HIGH', 1]],
    ['level', { ...EMULATOR, level: 'LOW' }, ['EMULATOR', 'LOW', 1]],
    ['confidence', { ...EMULATOR, confidence: 0.94 }, ['EMULATOR', 'HIGH', 1]],
    ['level', { ...VPN_ENABLED, level: 'MEDIUM', confidence: 0.2 }, ['VPN_ENABLED', 'MEDIUM', 1]],
  ])('%s: %o', async (kind, signal, counted) => {
    expect(await countedWith([signal], 3)).toEqual({ signals: [counted], drift: [[kind, 1]] });
  });
});
