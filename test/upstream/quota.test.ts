import { expect, onTestFinished, test, vi } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { Quota } from '../../src/upstream/quota.ts';
import { ANDROID, LOT_NUMBER, PASS } from '../faults/documented.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { probeAnswer } from '../support/probes.ts';
import { ask } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** Quotas that each process counts alone. `quota-store.test.ts` has those that all replicas share. */

const input = { lotNumber: LOT_NUMBER, captchaOutput: 'o', passToken: 'p', genTime: '1' };
const EXCEEDED = { code: 'QUOTA_EXCEEDED', retryable: true };

async function start(overrides: Partial<Config>) {
  const upstream = await startUpstream(({ url }, response) =>
    sendJson(response, 200, url.startsWith('/validate') ? PASS : ANDROID),
  );
  onTestFinished(upstream.stop);
  const app = await startInLiveMode({ GLB: upstream.url, NA: upstream.url, EU: upstream.url }, overrides);
  onTestFinished(app.stop);
  return {
    app,
    received: () => upstream.received.length,
    judge: (count: number, publicKey = 'pk_sandbox_glb') => {
      const fields = Array.from(
        { length: count },
        (_, at) => `a${at}: deviceFingerprint(token: "t${at}", publicKey: "${publicKey}") { __typename }`,
      );
      return ask(app.graphqlUrl, `{ ${fields.join(' ')} }`);
    },
    verify: () => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input }),
  };
}

test('beyond the quota of a second nothing is sent, and the next second has a quota of its own', async () => {
  const { received, judge } = await start({ fingerprintQuota: { perSecond: 5 } });
  const { errors = [] } = await judge(20);
  expect(errors.map(({ extensions }) => extensions)).toEqual(Array(15).fill(EXCEEDED));
  expect(received()).toBe(5);
  await expect.poll(async () => (await judge(1)).errors, { timeout: 10_000, interval: 100 }).toBeUndefined();
  expect(received()).toBe(6);
});

test('the quota of a day is for one account, and a client need not try again', async () => {
  const { app, received, judge } = await start({ fingerprintQuota: { perDay: 3 } });
  const { errors = [] } = await judge(4);
  expect(errors.map(({ extensions }) => extensions)).toEqual([{ ...EXCEEDED, retryable: false }]);
  expect((await judge(1)).errors).toHaveLength(1);
  expect((await judge(3, 'pk_sandbox_eu')).errors).toBeUndefined();
  expect(received()).toBe(6);
  expect(app.logged()).toContain('quota of 3 calls a day is used up for account pk_sandbox_glb');
});

test('a captcha beyond the quota is an error, even if everyone may proceed without a verdict', async () => {
  const { received, verify } = await start({ captchaQuota: { perDay: 1 }, captchaFailOpen: 'always' });
  expect((await verify()).data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed' });
  expect(await verify()).toMatchObject({
    data: { validateCaptcha: null },
    errors: [{ extensions: { code: 'QUOTA_EXCEEDED', retryable: false } }],
  });
  expect(received()).toBe(1);
});

test('a confirmed outage takes nothing from the quota, and a captcha beyond the quota is an error after it', async () => {
  let isDown = false;
  const upstream = await startUpstream(
    (_request, response) => (isDown ? sendJson(response, 503, {}) : sendJson(response, 200, PASS)),
    ({ body }, response) => {
      const { status, body: documented } = probeAnswer(body);
      response.writeHead(isDown ? 503 : status).end(isDown ? '' : documented);
    },
  );
  onTestFinished(upstream.stop);
  const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
  const app = await startInLiveMode(urls, { captchaQuota: { perDay: 2 } });
  onTestFinished(app.stop);
  const verify = () => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input });
  isDown = true;
  for (let round = 0; round < 5; round += 1) {
    expect((await verify()).data.validateCaptcha).toMatchObject({ proceed: true, cause: 'TRANSPORT' });
  }
  expect(upstream.received).toHaveLength(1);
  isDown = false;
  await expect
    .poll(async () => (await verify()).data.validateCaptcha?.__typename, { timeout: 10_000, interval: 50 })
    .toBe('CaptchaPassed');
  expect((await verify()).errors).toMatchObject([{ extensions: { code: 'QUOTA_EXCEEDED' } }]);
  expect(upstream.received).toHaveLength(2);
});

test('a call that fails without being sent costs nothing of the quota', async () => {
  const { received, judge } = await start({
    fingerprintQuota: { perDay: 3 },
    upstreamMaxInFlight: 1,
    upstreamMaxQueue: 0,
  });
  const { errors = [] } = await judge(10);
  expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['OVERLOADED']));
  expect(received()).toBe(1);
  expect((await judge(1)).errors).toBeUndefined();
  expect((await judge(1)).errors).toBeUndefined();
  expect((await judge(1)).errors).toMatchObject([{ extensions: { code: 'QUOTA_EXCEEDED' } }]);
});

test('the metrics have the limits, what is left, and what was refused', async () => {
  const { app, judge } = await start({ fingerprintQuota: { perSecond: 1_000, perDay: 10 } });
  await judge(3, 'pk_sandbox_eu');
  await judge(12);
  const { value, samples } = await readMetrics(app);
  const day = { service: 'fingerprint', window: 'day' };
  expect(value('device_trust_quota_limit', day)).toBe(10);
  expect(value('device_trust_quota_remaining', day)).toBe(0);
  expect(value('device_trust_quota_refused_total', day)).toBe(2);
  expect(value('device_trust_quota_refused_total', { ...day, window: 'second' })).toBe(0);
  expect(value('device_trust_quota_limit', { ...day, window: 'second' })).toBe(1_000);
  expect(samples.filter(({ name, labels }) => name.includes('quota_limit') && labels['service'] === 'captcha')).toEqual(
    [],
  );
  expect(value('device_trust_quota_store_away')).toBe(0);
});

function createQuota(limits: Config['fingerprintQuota']) {
  const refused: string[] = [];
  const quota = new Quota({
    service: 'test',
    limits: limits ?? {},
    store: undefined,
    onRefused: (window) => void refused.push(window),
  });
  return { quota, refused };
}

test('a wall clock that is set forward or back neither gives a new quota nor blocks one', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { quota } = createQuota({ perSecond: 2, perDay: 4 });
  const takeTwo = () => [quota.take('a'), quota.take('a')];
  takeTwo();
  vi.setSystemTime(Date.now() + 7 * 86_400_000);
  expect(() => quota.take('a')).toThrow();
  vi.setSystemTime(0);
  vi.advanceTimersByTime(1_000);
  takeTwo();
  vi.advanceTimersByTime(1_000);
  expect(() => quota.take('a')).toThrow('used up');
  vi.advanceTimersByTime(86_400_000);
  takeTwo();
});

test('a call that is refused in its second costs nothing of the day', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { quota, refused } = createQuota({ perSecond: 1, perDay: 2 });
  quota.take('a');
  for (let i = 0; i < 10; i += 1) expect(() => quota.take('a')).toThrow();
  expect(refused).toEqual(Array(10).fill('second'));
  expect(new Map(quota.states()).get('day')).toEqual({ limit: 2, left: 1 });
  vi.advanceTimersByTime(1_000);
  quota.take('a');
  expect(new Map(quota.states()).get('day')).toEqual({ limit: 2, left: 0 });
});
