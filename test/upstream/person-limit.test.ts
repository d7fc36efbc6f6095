import { expect, test } from 'vitest';
import type { Config } from '../../src/settings/variables.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, queryForTokens } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import { startGood } from './support.ts';

/** `perMinuteOfPerson`: what a person with the page can cost. */

const [ROUTER, ORDERS] = ['secret-of-the-router', 'the-secret-of-orders'];
const ofRouter = { 'router-authorization': ROUTER };
const ofOrders = { authorization: `Bearer ${ORDERS}` };
const CALLERS = {
  routerSecrets: [ROUTER],
  services: [{ name: 'orders', secret: ORDERS, scopes: [] }],
  trustedHeaders: { subject: 'x-user-id', metadata: { ipAddr: { header: 'x-client-ip' } } },
} as const;
const REFUSED = { code: 'RATE_LIMITED', retryable: true };

async function start(overrides: Partial<Config>) {
  const upstream = await startGood();
  const app = await untilEnd(startInLiveMode(upstream.url, { ...CALLERS, ...overrides }));
  /** Asks for so many devices, and gives how many events that caused. */
  const eventsOf = async (headers: Record<string, string>, count: number, publicKey?: string) => {
    const before = upstream.received.length;
    const { errors = [] } = await ask(app.graphqlUrl, queryForTokens(times(count, String), publicKey), {}, headers);
    expect(errors.map(({ extensions }) => extensions)).toEqual(errors.map(() => REFUSED));
    expect(upstream.received.length - before).toBe(count - errors.length);
    return count - errors.length;
  };
  return { app, eventsOf };
}

test('the events of a minute are those of one person, whatever the account and the address, or of one network', async () => {
  const { eventsOf } = await start({ fingerprintQuota: { perMinuteOfPerson: 3 } });
  const by = (headers: Record<string, string>) => ({ ...ofRouter, ...headers });
  expect(await eventsOf(by({ 'x-user-id': 'ada', 'x-client-ip': '192.0.2.1' }), 2)).toBe(2);
  expect(await eventsOf(by({ 'x-user-id': 'ada', 'x-client-ip': '192.0.2.2' }), 5, 'pk_sandbox_eu')).toBe(1);
  expect(await eventsOf(by({ 'x-user-id': 'bob', 'x-client-ip': '192.0.2.1' }), 5)).toBe(3);
  // Anonymous: an IPv4 address, or the /56 of an IPv6 address.
  expect(await eventsOf(by({ 'x-client-ip': '192.0.2.1' }), 5)).toBe(3);
  expect(await eventsOf(by({ 'x-client-ip': '192.0.2.2' }), 5)).toBe(3);
  expect(await eventsOf(by({ 'x-client-ip': '2001:db8:0:1200::1' }), 2)).toBe(2);
  expect(await eventsOf(by({ 'x-client-ip': '2001:db8:0:12ff::9' }), 5)).toBe(1);
  expect(await eventsOf(by({ 'x-client-ip': '2001:db8:0:1300::1' }), 5)).toBe(3);
  // Whom the router does not name share one count.
  expect(await eventsOf(ofRouter, 2)).toBe(2);
  expect(await eventsOf(ofRouter, 5)).toBe(1);
});

test('a service has counts of its own for the people that it names, and none for nobody', async () => {
  const { eventsOf } = await start({ fingerprintQuota: { perMinuteOfPerson: 3 } });
  expect(await eventsOf({ ...ofRouter, 'x-user-id': 'ada' }, 5)).toBe(3);
  expect(await eventsOf({ ...ofOrders, 'x-user-id': 'ada' }, 5)).toBe(3);
  expect(await eventsOf(ofOrders, 20)).toBe(20);
});

test('the caller has to act on this limit, so it is in the metrics of the caller and in no line of the log', async () => {
  const { app, eventsOf } = await start({ fingerprintQuota: { perMinuteOfPerson: 3 } });
  expect(await eventsOf({ ...ofRouter, 'x-user-id': 'ada-lovelace' }, 5)).toBe(3);
  const { value } = await readMetrics(app);
  expect(value('device_trust_quota_refused_total', { service: 'fingerprint', window: 'minute' })).toBe(2);
  expect(value('device_trust_operations_failed_total', { side: 'caller' })).toBe(1);
  expect(value('device_trust_operations_failed_total', { side: 'operator' })).toBe(0);
  expect(app.logged()).not.toMatch(/ada-lovelace|used up/);
});

test('a call that another quota refuses costs a person nothing, nor the other way round', async () => {
  const { app, eventsOf } = await start({ fingerprintQuota: { perMinuteOfPerson: 3, perDay: 5 } });
  expect(await eventsOf({ ...ofRouter, 'x-user-id': 'ada' }, 20)).toBe(3);
  const day = { service: 'fingerprint', window: 'day' };
  expect((await readMetrics(app)).value('device_trust_quota_remaining', day)).toBe(2);
  const bob = { ...ofRouter, 'x-user-id': 'bob' };
  const code = async () => {
    const { errors = [] } = await ask(app.graphqlUrl, queryForTokens(['1']), {}, bob);
    return errors[0]?.extensions.code;
  };
  // More than three in the minute, of which only two were events.
  for (const expected of [undefined, undefined, ...Array(4).fill('QUOTA_EXCEEDED')])
    expect(await code()).toBe(expected);
});

test('a captcha beyond this limit is an error, even if everyone may proceed without a verdict', async () => {
  const { app } = await start({ captchaQuota: { perMinuteOfPerson: 1 }, captchaFailOpen: 'always' });
  const verify = () =>
    ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: CAPTCHA_INPUT }, { ...ofRouter, 'x-user-id': 'ada' });
  expect((await verify()).data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed' });
  expect(await verify()).toMatchObject({ data: { validateCaptcha: null }, errors: [{ extensions: REFUSED }] });
});

test('a limit that is off writes no series', async () => {
  const { app } = await start({ fingerprintQuota: { perDay: 5 } });
  const { samples } = await readMetrics(app);
  const windows = samples.filter(({ name }) => name === 'device_trust_quota_refused_total').map(({ labels }) => labels);
  expect(windows).toEqual([{ service: 'fingerprint', window: 'day' }]);
});
