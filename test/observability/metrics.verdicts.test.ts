import { describe, expect, onTestFinished, test } from 'vitest';
import { ANDROID, exception, FAIL, LOT_NUMBER, PASS } from '../faults/documented.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, answersProbes, type Behaviour, reset, startHostile } from '../support/hostile.ts';
import { readMetrics } from './exposition.ts';
import { queryForTokens, send, startAgainst, startSandboxed } from './support.ts';

/** The metrics of captcha verdicts, signals, and differences from the catalogue. */

/** The outcomes that have occurred. */
async function outcomesOf(app: TestApp) {
  const { samples } = await readMetrics(app);
  return samples.filter(({ name, value }) => name === 'device_trust_captcha_outcomes_total' && value > 0);
}

describe('a captcha verification counts by type, cause and whether the request may proceed', () => {
  const OTHER = 'b'.repeat(32);
  interface Special {
    readonly captchaId?: string;
    readonly policy?: 'always' | 'never';
    /** Do our own probes fail in the same way, once the app has started? */
    readonly failsForAll?: true;
  }
  const ALL: Special = { failsForAll: true };
  const respond = (body: string, status = 200) => answer(status, body);
  const PAUSED = respond(exception('-50105', 'paused'));
  const RUNTIME_ERROR = respond(exception('-50000', 'runtime error'));
  const failed = (reason: string) => respond(JSON.stringify({ ...FAIL, reason }));

  test.each<[string, string, string, string, Behaviour, Special?]>([
    ['CaptchaPassed', '', 'true', 'a pass', respond(JSON.stringify(PASS))],
    ['CaptchaFailed', 'PASS_TOKEN_EXPIRED', 'false', 'a pass token that expired', failed('pass_token expire')],
    ['CaptchaFailed', 'LOT_NUMBER_MISMATCH', 'false', 'another lot number', failed('lot_number not match')],
    ['CaptchaFailed', 'ILLEGAL_SIGN_TOKEN', 'false', 'a wrong key', failed('illegal sign_token')],
    ['CaptchaFailed', 'OTHER', 'false', 'an unknown reason', failed('of a new kind')],
    ['CaptchaIndeterminate', 'CLIENT', 'false', 'values used twice', respond(exception('-50308', 'payload Used'))],
    ['CaptchaIndeterminate', 'CLIENT', 'false', 'a firewall', respond('<html>', 403)],
    ['CaptchaIndeterminate', 'CONFIGURATION', 'true', 'a paused id', PAUSED, ALL],
    ['CaptchaIndeterminate', 'CONFIGURATION', 'false', 'a pause that no probe shows', PAUSED],
    [
      'CaptchaIndeterminate',
      'CONFIGURATION',
      'false',
      "a paused id of the caller's choice",
      PAUSED,
      { ...ALL, captchaId: OTHER },
    ],
    ['CaptchaIndeterminate', 'SERVICE', 'true', 'an exception of the service in an outage', RUNTIME_ERROR, ALL],
    ['CaptchaIndeterminate', 'SERVICE', 'false', 'an exception that no probe shows', RUNTIME_ERROR],
    ['CaptchaIndeterminate', 'TRANSPORT', 'true', 'a reset in an outage', reset, ALL],
    ['CaptchaIndeterminate', 'TRANSPORT', 'false', 'a reset that no probe shows', reset],
    ['CaptchaIndeterminate', 'TRANSPORT', 'false', 'a reset with the policy never', reset, { policy: 'never' }],
    [
      'CaptchaIndeterminate',
      'CLIENT',
      'true',
      'a firewall with the policy always',
      respond('', 403),
      { policy: 'always' },
    ],
  ])(
    '%s %s %s for %s',
    async (type, cause, proceed, _what, behave, { captchaId, policy, failsForAll }: Special = {}) => {
      let answerProbe = answersProbes;
      const upstream = await startHostile(behave, { probe: (exchange) => answerProbe(exchange) });
      onTestFinished(upstream.stop);
      const { url } = upstream;
      const app = await startInLiveMode({ GLB: url, NA: url, EU: url }, { captchaFailOpen: policy ?? 'faults' });
      onTestFinished(app.stop);
      if (failsForAll) answerProbe = behave;
      const input = { lotNumber: LOT_NUMBER, captchaOutput: 'o', passToken: 'p', genTime: '1', captchaId };
      await send(app, { query: CAPTCHA_MUTATION, variables: { input } });
      const outcomes = await outcomesOf(app);
      expect(outcomes.map(({ labels, value }) => [labels, value])).toEqual([[{ type, cause, proceed }, 1]]);
    },
  );

  test('does not count if no call was made', async () => {
    const app = await startSandboxed();
    const input = { lotNumber: '', captchaOutput: 'o', passToken: 'p', genTime: '1' };
    await send(app, { query: CAPTCHA_MUTATION, variables: { input } });
    expect(await outcomesOf(app)).toEqual([]);
  });
});

/** The counts after an operation with this many aliases, whose one judgement has these signals. */
async function countedWith(signals: readonly object[], aliases = 1) {
  const judged = { ...ANDROID, data: { ...ANDROID.data, signals } };
  const { app } = await startAgainst(answer(200, JSON.stringify(judged)));
  await send(app, { query: queryForTokens(Array(aliases).fill('one-token')) });
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

describe('a signal counts by code and level', () => {
  test('once for each judgement, however many fields show it', async () => {
    expect(await countedWith([EMULATOR, VPN_ENABLED], 10)).toEqual({
      signals: [
        ['EMULATOR', 'HIGH', 1],
        ['VPN_ENABLED', 'LOW', 1],
      ],
      drift: [],
    });
  });

  test('again in the next operation', async () => {
    const app = await startSandboxed();
    for (let round = 0; round < 3; round += 1) await send(app, { query: queryForTokens(['sandbox:android:EMULATOR']) });
    const { value } = await readMetrics(app);
    expect(value('device_trust_signals_total', { code: 'EMULATOR', level: 'HIGH' })).toBe(3);
  });

  test('not at all if the device has none', async () => {
    expect(await countedWith([])).toEqual({ signals: [], drift: [] });
  });
});

describe('a signal that differs from the catalogue counts as drift', () => {
  test.each<[string, object, readonly unknown[]]>([
    ['unknown_signal', { ...EMULATOR, signal: 'QUANTUM_EMULATOR' }, ['unknown', 'HIGH', 1]],
    ['unknown_signal', { ...EMULATOR, signal: 'constructor' }, ['unknown', 'HIGH', 1]],
    ['unknown_signal', { ...EMULATOR, signal: 'emulator' }, ['unknown', 'HIGH', 1]],
    ['level', { ...EMULATOR, level: 'LOW' }, ['EMULATOR', 'LOW', 1]],
    ['confidence', { ...EMULATOR, confidence: 0.94 }, ['EMULATOR', 'HIGH', 1]],
    ['level', { ...VPN_ENABLED, level: 'MEDIUM', confidence: 0.2 }, ['VPN_ENABLED', 'MEDIUM', 1]],
  ])('of kind %s: %o', async (kind, signal, counted) => {
    expect(await countedWith([signal], 3)).toEqual({ signals: [counted], drift: [[kind, 1]] });
  });
});
