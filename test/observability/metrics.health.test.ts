import { expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { FAIL } from '../faults/documented.ts';
import { keepLog, liveConfig, PATIENT, startInLiveMode, type TestApp } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, answersProbes, type Behaviour, reset, startHostile } from '../support/hostile.ts';
import { untilEnd } from '../support/until-end.ts';
import { readMetrics } from './exposition.ts';
import { linesOf, send, warningsOf } from './support.ts';

/** The metrics and log lines about the health of accounts, about readiness, and about connections that are closed. */

const APPLICATION = { publicKey: 'pk_of_the_shop', secret: 'sk_of_the_shop', region: 'GLB' } as const;
const CAPTCHA = { captchaId: 'c'.repeat(32), captchaKey: 'key_of_the_shop', region: 'EU' } as const;
const OURS = [
  { service: 'fingerprint', region: 'GLB', account: APPLICATION.publicKey },
  { service: 'captcha', region: 'EU', account: CAPTCHA.captchaId },
] as const;
const [OF_FINGERPRINT, OF_CAPTCHA] = OURS;

const DOWN = answer(503, '');
const verify = (app: TestApp) => send(app, { query: CAPTCHA_MUTATION, variables: { input: CAPTCHA_INPUT } });

/** One account of each service. */
const ACCOUNTS = { fingerprintApplications: [APPLICATION], captchaConfigurations: [CAPTCHA] };

/** An app with one account of each service, whose upstream behaves like this, to probes as to calls, until it is changed. */
async function start() {
  const now = { behave: answersProbes };
  const behave: Behaviour = (exchange) => now.behave(exchange);
  const { url } = await untilEnd(startHostile(behave, { probe: behave }));
  const app = await untilEnd(startInLiveMode(url, ACCOUNTS));
  return { app, url, become: (next: Behaviour) => Object.assign(now, { behave: next }) };
}

/** The state of each account: the one whose value is 1. Throws unless each has exactly one. */
async function statesOf(app: TestApp): Promise<Record<string, string | undefined>> {
  const { samples } = await readMetrics(app);
  const health = samples.filter(({ name }) => name === 'device_trust_upstream_health');
  const current = health.filter(({ value }) => value === 1);
  expect(health).toHaveLength(4 * current.length);
  expect(health.filter(({ value }) => value === 0)).toHaveLength(3 * current.length);
  return Object.fromEntries(current.map(({ labels: { account = '', state } }) => [account, state]));
}

const stateOf = async (app: TestApp, { account }: { account: string }) => (await statesOf(app))[account];
const outagesOf = async (app: TestApp, ids: Readonly<Record<string, string>>) =>
  (await readMetrics(app)).value('device_trust_upstream_outages_total', ids);
/** The log lines about one service's accounts. */
const linesAbout = (app: TestApp, { service }: { service: string }) =>
  linesOf(app).filter((line) => line['health'] !== undefined && line['service'] === service);

test('the health of an account is in the metrics from the first scrape, and an outage is one count and one line until it ends', async () => {
  const { app, become } = await start();
  const probesOf = async (result: string, service = 'captcha', region = 'EU') =>
    (await readMetrics(app)).value('device_trust_upstream_probes_total', { service, region, result });
  expect(await statesOf(app)).toEqual({ [APPLICATION.publicKey]: 'well', [CAPTCHA.captchaId]: 'well' });
  const { value } = await readMetrics(app);
  for (const ids of OURS) {
    expect(value('device_trust_upstream_outages_total', ids)).toBe(0);
    expect(value('device_trust_upstream_has_worked', ids)).toBe(1);
  }
  expect([await probesOf('well'), await probesOf('well', 'fingerprint', 'GLB')]).toEqual([1, 1]);
  expect(await probesOf('failed')).toBeUndefined();
  expect(warningsOf(app)).toEqual([]);

  become(DOWN);
  await verify(app);
  await expect.poll(() => stateOf(app, OF_CAPTCHA)).toBe('outage');
  expect(await outagesOf(app, OF_CAPTCHA)).toBe(1);
  const failed = Number(await probesOf('failed'));
  expect(failed).toBeGreaterThanOrEqual(2);
  expect((await readMetrics(app)).value('device_trust_upstream_has_worked', OF_CAPTCHA)).toBe(1);
  // However many ways the probes fail in.
  become(reset);
  await expect.poll(() => probesOf('failed')).toBeGreaterThan(failed + 1);
  become(answersProbes);
  await expect.poll(() => stateOf(app, OF_CAPTCHA)).toBe('well');
  expect([await outagesOf(app, OF_CAPTCHA), await probesOf('well')]).toEqual([1, 2]);
  const lines = linesAbout(app, OF_CAPTCHA);
  expect(lines).toMatchObject([
    { level: 'warn', health: 'outage', ...OF_CAPTCHA, reason: 'HTTP status 503' },
    { level: 'info', health: 'well', before: 'outage', ...OF_CAPTCHA },
  ]);

  become(DOWN);
  await verify(app);
  await expect.poll(() => outagesOf(app, OF_CAPTCHA)).toBe(2);
});

test('a refused account keeps the process from becoming ready, with a line that says whose mistake it is', async () => {
  const rejection = answer(200, JSON.stringify({ ...FAIL, reason: 'illegal sign_token' }));
  const limited = answer(429, '');
  let ofCaptcha = limited;
  const probe: Behaviour = (exchange) =>
    (exchange.request.includes('captcha_output') ? ofCaptcha : answersProbes)(exchange);
  const upstream = await untilEnd(startHostile(probe, { probe }));
  const { log, logged } = keepLog();
  const started = await untilEnd(createApp(liveConfig(upstream.url, ACCOUNTS), log, { maxDelayMs: PATIENT }));
  const app = { ...started, logged };
  const probes = async (result: string) =>
    (await readMetrics(app)).value('device_trust_upstream_probes_total', { service: 'captcha', result });
  await expect.poll(() => probes('limited')).toBeGreaterThanOrEqual(1);
  expect(await stateOf(app, OF_CAPTCHA)).toBe('unknown');
  ofCaptcha = rejection;
  await expect.poll(() => stateOf(app, OF_CAPTCHA)).toBe('refused');
  const { value } = await readMetrics(app);
  expect(value('device_trust_upstream_has_worked', OF_CAPTCHA)).toBe(0);
  expect(value('device_trust_upstream_has_worked', OF_FINGERPRINT)).toBe(1);
  expect(value('device_trust_ready')).toBe(0);
  expect((await fetch(`${app.url}/readyz`)).status).toBe(503);
  const [unknown, line, ...others] = linesAbout(app, OF_CAPTCHA);
  expect(others).toEqual([]);
  expect(unknown).toMatchObject({ level: 'warn', health: 'unknown', reason: 'HTTP status 429' });
  expect(line).toMatchObject({ level: 'error', health: 'refused', ...OF_CAPTCHA, reason: 'illegal sign_token' });
  // The log ends with good news.
  ofCaptcha = answersProbes;
  await verify(app);
  await expect.poll(() => linesAbout(app, OF_CAPTCHA).at(-1)).toMatchObject({ level: 'info', health: 'well' });
});
