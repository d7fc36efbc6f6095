import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/settings/variables.ts';
import { createQuota } from '../../src/upstream/quota.ts';
import { counterOfProcess } from '../../src/upstream/quota-store.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, queryForTokens } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import { startGood } from './support.ts';

/** Quotas that each process counts alone. `quota-store.all.test.ts` has those that all replicas share. */

const EXCEEDED = { code: 'QUOTA_EXCEEDED', retryable: true };

async function start(overrides: Partial<Config>) {
  const upstream = await startGood();
  const app = await untilEnd(startInLiveMode(upstream.url, overrides));
  return {
    app,
    received: () => upstream.received.length,
    judge: (count: number, publicKey?: string) => ask(app.graphqlUrl, queryForTokens(times(count, String), publicKey)),
    verify: () => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: CAPTCHA_INPUT }),
  };
}

test('the quota of a second: nothing is sent beyond it, and the next second has a quota of its own', async () => {
  const { received, judge } = await start({ fingerprintQuota: { perSecond: 5 } });
  const { errors = [] } = await judge(20);
  expect(errors.map(({ extensions }) => extensions)).toEqual(Array(15).fill(EXCEEDED));
  expect(received()).toBe(5);
  await expect.poll(async () => (await judge(1)).errors, { timeout: 10_000, interval: 100 }).toBeUndefined();
  expect(received()).toBe(6);
});

test('a call that is refused in its second costs nothing of the day', async () => {
  const { app, judge } = await start({ fingerprintQuota: { perSecond: 1, perDay: 2 } });
  expect((await judge(10)).errors).toHaveLength(9);
  const { value } = await readMetrics(app);
  expect(value('device_trust_quota_remaining', { service: 'fingerprint', window: 'day' })).toBe(1);
  await expect.poll(async () => (await judge(1)).errors, { timeout: 10_000, interval: 100 }).toBeUndefined();
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

test('a call that fails without being sent costs nothing of the quota', async () => {
  const { received, judge } = await start({ fingerprintQuota: { perDay: 3 }, upstreamMaxInFlight: 1 });
  const { errors = [] } = await judge(10);
  expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['OVERLOADED']));
  // One that ran, and one that waited.
  expect(received()).toBe(2);
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

test('a store that is not at its address: the app starts within seconds, and counts alone', async () => {
  const quotaStoreUrl = 'redis://:a-password@127.0.0.1:1';
  const { app, judge } = await start({ fingerprintQuota: { perDay: 2 }, quotaStoreUrl });
  const { errors = [] } = await judge(3);
  expect(errors.map(({ extensions }) => extensions.code)).toEqual(['QUOTA_EXCEEDED']);
  expect(app.logged().split('quota store unavailable; counting per process')).toHaveLength(2);
  expect(app.logged()).toContain('ECONNREFUSED');
  expect(app.logged()).not.toContain('a-password');
});

describe('services that call beside the router', () => {
  const [ROUTER, BATCH, ORDERS] = ['secret-of-the-router', 'the-secret-of-batch', 'the-secret-of-orders'];
  const services = [
    { name: 'batch', secret: BATCH, scopes: [], quota: { perDay: 7 } },
    { name: 'orders', secret: ORDERS, scopes: [] },
  ] as const;
  const asRouter = { 'router-authorization': ROUTER };
  const as = (secret: string) => ({ authorization: `Bearer ${secret}` });

  test('services that call beside the router leave a half of the quota to the router, and to each other', async () => {
    const { app, received } = await start({ fingerprintQuota: { perDay: 100 }, routerSecrets: [ROUTER], services });
    const judgedBy = async (headers: Record<string, string>) => {
      const before = received();
      const { errors = [] } = await ask(app.graphqlUrl, queryForTokens(times(100, String)), {}, headers);
      expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['QUOTA_EXCEEDED']));
      return received() - before;
    };
    expect(await judgedBy(as(ORDERS))).toBe(25);
    expect(await judgedBy(as(BATCH))).toBe(7);
    expect(await judgedBy(asRouter)).toBe(68);
    expect((await readMetrics(app)).value('device_trust_quota_remaining', { window: 'day' })).toBe(0);
  });

  test('services that call beside the router have a quota of their own also where all together have none', async () => {
    const { app, received } = await start({ routerSecrets: [ROUTER], services });
    await ask(app.graphqlUrl, queryForTokens(times(20, String)), {}, as(BATCH));
    expect(received()).toBe(7);
    await ask(app.graphqlUrl, queryForTokens(times(20, String)), {}, as(ORDERS));
    expect(received()).toBe(27);
  });

  test('services have all of the quota if nobody else calls', async () => {
    const [, orders] = services;
    const { app, received } = await start({ fingerprintQuota: { perDay: 30 }, services: [orders] });
    await ask(app.graphqlUrl, queryForTokens(times(40, String)), {}, as(ORDERS));
    expect(received()).toBe(30);
  });
});

test('a call that the quota of all refuses uses up nothing of the day of the service that asks', async () => {
  const counter = counterOfProcess();
  const callers = { hasRouter: true, services: new Map([['orders', undefined]]) };
  const { take } = createQuota('test', { perDay: 4 }, callers, { recordQuotaExceeded: () => {} }, counter);
  for (const _ of times(4, String)) await take('account', { name: 'router', isService: false });
  for (const _ of times(3, String))
    await expect(take('account', { name: 'orders', isService: true })).rejects.toThrow('used up');
  const { calls } = await counter('device-trust:test:day:service:orders:account', 86_400, 0);
  expect(calls).toBe(1);
});
