import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Config } from '../../src/settings/variables.ts';
import { DATA } from '../fingerprint/support.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { post, postBytes, sendBytes } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** The metadata that headers of a trusted caller carry, as the fingerprint service receives it. */

const ROUTER = 'the-secret-of-the-router';
const ORDERS = { name: 'orders', secret: 'the-secret-of-orders', scopes: [] } as const;
const METADATA = {
  ipAddr: { header: 'x-client-ip' },
  userAgent: { header: 'x-client-user-agent' },
  ja4: { header: 'x-ja4', from: 'header-or-argument' },
  accountId: { header: 'x-user-id' },
} as const;
const CONFIG: Partial<Config> = {
  routerSecrets: [ROUTER],
  services: [ORDERS],
  trustedHeaders: { subject: 'x-user-id', scopes: undefined, metadata: METADATA },
};

const upstream = await startUpstream((_request, response) =>
  sendJson(response, 200, { code: 200, message: 'Success', data: DATA }),
);
const app = await startInLiveMode(upstream.url, CONFIG);
const ofEither = { ipAddr: { header: 'x-client-ip', from: 'header-or-argument' } } as const;
const either = await startInLiveMode(upstream.url, { ...CONFIG, trustedHeaders: { metadata: ofEither } });
afterAll(async () => {
  await Promise.all([app.stop(), either.stop()]);
  await upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

type Headers = Readonly<Record<string, string>>;
const AS_ROUTER: Headers = { 'router-authorization': ROUTER };
const QUERY = `query ($metadata: DeviceMetadataInput) {
  deviceFingerprint(token: "t", metadata: $metadata) { ... on DeviceFingerprint { clientType } }
}`;

/** The metadata of each call that was made. */
const sent = () => upstream.received.map(({ body }) => JSON.parse(body).metadata);

async function metadataOf(headers: Headers, metadata?: Record<string, unknown>, { graphqlUrl } = app) {
  upstream.received.length = 0;
  const { errors } = await post(graphqlUrl, JSON.stringify({ query: QUERY, variables: { metadata } }), {
    ...AS_ROUTER,
    ...headers,
  });
  expect(errors).toBeUndefined();
  expect(upstream.received).toHaveLength(1);
  return sent()[0];
}

const dropped = async (of: TestApp, key: string) =>
  (await readMetrics(of)).value('device_trust_metadata_dropped_total', { key });

test('a header of each kind reaches the service', async () => {
  const headers = {
    'x-client-ip': '203.0.113.7:46532',
    'x-client-user-agent': 'Mozilla/5.0 (X11; Linux x86_64)',
    'x-ja4': 't13d1516h2_8daaf6152771_b186095e22b6',
    'x-user-id': 'person-17',
  };
  expect(await metadataOf(headers)).toEqual({
    account_id: 'person-17',
    ip_addr_v4: '203.0.113.7',
    user_agent: headers['x-client-user-agent'],
    ja4: headers['x-ja4'],
  });
  expect(await metadataOf({ 'x-client-ip': '[2001:DB8::7]:443' })).toEqual({ ip_addr_v6: '2001:db8::7' });
});

test('a header stands beside arguments that no header carries', async () => {
  const metadata = { email: 'a@shop.example', additional: { store: 'Berlin' } };
  expect(await metadataOf({ 'x-user-id': 'person-17' }, metadata)).toEqual({
    account_id: 'person-17',
    email: 'a@shop.example',
    store: 'Berlin',
  });
});

test('a header counts for each execution of a compiled operation anew', async () => {
  for (const last of [1, 2, 3, 4, 5, 6]) {
    expect(await metadataOf({ 'x-client-ip': `203.0.113.${last}` })).toEqual({ ip_addr_v4: `203.0.113.${last}` });
  }
});

test.each<[string, readonly string[]]>([
  ['is repeated', ['x-client-user-agent: a', 'x-client-user-agent: b']],
  ['has bytes beyond ASCII', ['x-client-user-agent: Br\u00f6wser']],
  ['is too long', [`x-client-user-agent: ${'x'.repeat(1_025)}`]],
  ['is no address', ['x-client-ip: unknown']],
  ['has two addresses', ['x-client-ip: 203.0.113.7, 203.0.113.8']],
  ['has an address twice', ['x-client-ip: 203.0.113.7', 'x-client-ip: 203.0.113.7']],
])('a header that %s counts as absent, and an argument does not replace it', async (_what, lines) => {
  const variables = { metadata: { userAgent: 'mine', ipAddrV4: '198.51.100.1' } };
  const body = JSON.stringify({ query: QUERY, variables });
  const bytes = postBytes(body, 'connection: close', `router-authorization: ${ROUTER}`, ...lines);
  const answer = await sendBytes(app.graphqlUrl, bytes);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(sent()).toEqual([undefined]);
});

test('a header of 1,024 characters counts', async () => {
  const userAgent = 'x'.repeat(1_024);
  expect(await metadataOf({ 'x-client-user-agent': userAgent })).toEqual({ user_agent: userAgent });
});

test('an argument for a key that a header carries is dropped and counted, whether the header is there or not', async () => {
  const before = (await dropped(app, 'ipAddrV6')) ?? 0;
  const metadata = { ipAddrV4: '198.51.100.1', ipAddrV6: '2001:db8::bad', accountId: 'admin', ja3: 'abc' };
  expect(await metadataOf({ 'x-client-ip': '203.0.113.7' }, metadata)).toEqual({
    ip_addr_v4: '203.0.113.7',
    ja3: 'abc',
  });
  expect(await metadataOf({}, metadata)).toEqual({ ja3: 'abc' });
  expect(await metadataOf({}, { ipAddrV6: null })).toBeUndefined();
  expect(await dropped(app, 'ipAddrV6')).toBe(before + 2);
  // No header carries it, so it has no counter.
  expect(await dropped(app, 'ja3')).toBeUndefined();
});

test('an argument stands in for an absent header where that is configured, and never beside one', async () => {
  expect(await metadataOf({}, { ja4: 'mine' })).toEqual({ ja4: 'mine' });
  expect(await metadataOf({ 'x-ja4': 'measured' }, { ja4: 'mine' })).toEqual({ ja4: 'measured' });
  expect(await metadataOf({}, { ipAddrV6: '2001:db8::1' }, either)).toEqual({ ip_addr_v6: '2001:db8::1' });
  const both = await metadataOf({ 'x-client-ip': '203.0.113.7' }, { ipAddrV6: '2001:db8::1' }, either);
  expect(both).toEqual({ ip_addr_v4: '203.0.113.7' });
});

test('an argument cannot get past a header among the additional keys', async () => {
  const variables = { metadata: { additional: { ip_addr_v4: '198.51.100.1' } } };
  const { errors } = await post(app.graphqlUrl, JSON.stringify({ query: QUERY, variables }), AS_ROUTER);
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  expect(sent()).toEqual([]);
});

test('questions that differ only in dropped arguments share a call, and so do those that differ in none', async () => {
  const fields = ['198.51.100.1', '198.51.100.2'].map(
    (ip, at) => `a${at}: deviceFingerprint(token: "t", metadata: { ipAddrV4: "${ip}" }) { __typename }`,
  );
  const query = `{ ${fields.join(' ')} b: deviceFingerprint(token: "t") { __typename } }`;
  await post(app.graphqlUrl, JSON.stringify({ query }), { ...AS_ROUTER, 'x-client-ip': '203.0.113.7' });
  expect(sent()).toEqual([{ ip_addr_v4: '203.0.113.7' }]);
});

test('questions by reference take no header, because it is about the viewer', async () => {
  const query =
    '{ _entities(representations: [{ __typename: "DeviceFingerprint", token: "t" }]) { ... on DeviceFingerprint { version } } }';
  await post(app.graphqlUrl, JSON.stringify({ query }), { ...AS_ROUTER, 'x-client-ip': '203.0.113.7' });
  expect(sent()).toEqual([undefined]);
});

const IP = { 'x-client-ip': '203.0.113.7' };

test('a service is trusted with headers for the metadata', async () => {
  const bearer = { ...IP, authorization: `Bearer ${ORDERS.secret}` };
  await post(app.graphqlUrl, JSON.stringify({ query: QUERY }), bearer);
  expect(sent()).toEqual([{ ip_addr_v4: '203.0.113.7' }]);
});

test('anyone without a secret is not trusted with headers: neither headers nor arguments for these keys count', async () => {
  const settings = { trustedHeaders: CONFIG.trustedHeaders, allowDirectAccess: true };
  const open = await untilEnd(startInLiveMode(upstream.url, settings));
  expect(await metadataOf(IP, { ipAddrV4: '198.51.100.1', ja4: 'mine' }, open)).toEqual({ ja4: 'mine' });
});
