import { unifiedGraphHandler } from '@graphql-hive/router-runtime';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { json, post, request } from '../support/requests.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';
import { signIn, startConfiguredGateway, startRecorder } from './hive-gateway.ts';
import { ROUTER_SECRET } from './subgraph-headers.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** `deploy/router/hive-gateway.ts`, with each planner of Hive Gateway: its own, and the one in Rust. */

const PLANNERS = [
  ['in JavaScript', undefined],
  ['in Rust', unifiedGraphHandler],
] as const;

const supergraph = await startTestSupergraph({
  trustedHeaders: {
    subject: 'x-user-id',
    scopes: 'x-user-scopes',
    metadata: { ipAddr: { header: 'x-client-ip' }, accountId: { header: 'x-user-id' } },
  },
});
const ownUrl = supergraph.subgraphs['device-trust'] ?? '';
const recorder = await startRecorder(ownUrl);
// The gateway finds the subgraph behind the recorder.
const supergraphSdl = supergraph.supergraphSdl.replaceAll(ownUrl, `${recorder.url}/graphql`);
afterAll(async () => {
  await supergraph.stop();
  await recorder.stop();
});
beforeEach(async () => {
  await supergraph.recover();
  supergraph.asked.length = 0;
  recorder.received.length = 0;
  recorder.away = false;
});

const ANALYST = { authorization: `Bearer ${await signIn('user-1', 'openid risk:read')}` };
const SHOPPER = { authorization: `Bearer ${await signIn('user-2', 'openid')}` };
const JUDGE =
  'query Login { deviceFingerprint(token: "sandbox:ios") { ... on DeviceFingerprint { clientType signals { code } } } }';
const SESSIONS = '{ user(id: "user-3") { sessions { deviceFingerprint { clientType } } } }';

describe.each(PLANNERS)('with the planner %s', async (_name, planner) => {
  const gateway = await startConfiguredGateway(supergraphSdl, { planner });
  afterAll(() => gateway.stop());
  const ask = (query: string, headers: Readonly<Record<string, string>> = {}) =>
    post(gateway.url, JSON.stringify({ query }), headers);

  test('one question crosses all three subgraphs and comes back', async () => {
    const { data, errors } = await ask(CROSS_SUBGRAPH_QUERY, ANALYST);
    expect(errors).toBeUndefined();
    expect(data.user.orders[0].judgement).toMatchObject({
      clientType: 'ANDROID',
      signals: [{ code: 'EMULATOR', level: 'HIGH' }],
      device: { orders: [{ id: 'order-1' }, { id: 'order-3' }, { id: 'order-5' }] },
    });
  });

  test('the secret, the person and the edge arrive, and nothing that a client says about itself', async () => {
    const forged = { 'router-authorization': 'forged', 'x-user-id': 'user-1', 'x-user-scopes': 'risk:read' };
    const fromEdge = { 'x-client-ip': '203.0.113.7', 'x-ja4': 't13d' };
    const chosen = { 'x-request-id': 'chosen-by-the-client', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
    const sent = { ...forged, ...fromEdge, ...chosen, cookie: 'session=1', ...SHOPPER };
    const { data } = await ask(JUDGE, sent);
    expect(data.deviceFingerprint).toEqual({ clientType: 'IOS', signals: null });
    const [{ headers } = { headers: {} }, ...others] = recorder.received;
    expect(others).toEqual([]);
    expect(headers).toMatchObject({ ...fromEdge, 'router-authorization': ROUTER_SECRET, 'x-user-id': 'user-2' });
    expect(headers).toMatchObject({
      'x-user-scopes': 'openid',
      'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
    });
    expect(Object.keys(headers)).not.toContain('cookie');
    expect(Object.keys(headers)).not.toContain('authorization');
    expect(Object.keys(headers)).not.toContain('traceparent');
    expect(supergraph.asked.map(({ body }) => JSON.parse(body).metadata)).toEqual([
      { account_id: 'user-2', ip_addr_v4: '203.0.113.7' },
    ]);
  });

  test('without a login there is no person and there are no scopes, whatever a client claims', async () => {
    const { errors = [] } = await ask(JUDGE, { 'x-user-id': 'user-1', 'x-user-scopes': 'risk:read' });
    expect(errors.map(({ extensions }) => extensions)).toEqual([{ code: 'FORBIDDEN', retryable: false }]);
    expect(Object.keys(recorder.received[0]?.headers ?? {})).not.toContain('x-user-id');
  });

  test('no extension of a request becomes a header', async () => {
    const forged = {
      'router-authorization': 'forged',
      'x-user-id': 'user-1',
      'x-user-scopes': 'risk:read',
      'x-client-ip': '203.0.113.9',
      cookie: 'session=1',
    };
    const body = JSON.stringify({ query: JUDGE, extensions: { headers: forged } });
    const { data } = await post(gateway.url, body, { ...SHOPPER, 'x-client-ip': '203.0.113.7' });
    expect(data?.deviceFingerprint).toEqual({ clientType: 'IOS', signals: null });
    expect(recorder.received).toHaveLength(1);
    expect(recorder.received[0]?.headers).toMatchObject({
      'router-authorization': ROUTER_SECRET,
      'x-user-id': 'user-2',
      'x-user-scopes': 'openid',
      'x-client-ip': '203.0.113.7',
    });
    expect(Object.keys(recorder.received[0]?.headers ?? {})).not.toContain('cookie');
  });

  test('codes and `retryable` reach the client, and no other extension', async () => {
    const { errors = [] } = await ask(SESSIONS, ANALYST);
    expect(errors.map(({ extensions }) => extensions)).toEqual([
      { code: 'DEVICE_TOKEN_REJECTED', retryable: false },
      { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    ]);
  });

  test('two equal requests at the same time are two events', async () => {
    const answers = await Promise.all([ask(JUDGE, ANALYST), ask(JUDGE, ANALYST)]);
    expect(answers.map(({ errors }) => errors)).toEqual([undefined, undefined]);
    expect(supergraph.asked).toHaveLength(2);
  });

  test('a request whose connection breaks is sent once', async () => {
    recorder.away = true;
    const { data } = await ask(JUDGE, ANALYST);
    expect(data?.deviceFingerprint ?? null).toBeNull();
    expect(recorder.received).toHaveLength(1);
  });

  test('a batch of operations is refused', async () => {
    const { status } = await request(gateway.url, json(JSON.stringify([{ query: JUDGE }, { query: JUDGE }]), ANALYST));
    expect(status).toBe(400);
    expect(recorder.received).toEqual([]);
  });
});

describe('in-flight requests to this subgraph', () => {
  /** As if no rule gave each request an id of its own, which keeps requests apart as well. */
  const withoutIds = { fromClientToSubgraphs: () => ({ 'router-authorization': ROUTER_SECRET }) };
  const callsOf = async (changes: Parameters<typeof startConfiguredGateway>[1]) => {
    const gateway = await startConfiguredGateway(supergraphSdl, changes);
    await Promise.all([1, 2].map(() => post(gateway.url, JSON.stringify({ query: JUDGE }))));
    await gateway.stop();
    return recorder.received.length;
  };

  test('are merged by default', async () => {
    expect(await callsOf({ changes: { propagateHeaders: withoutIds, transportEntries: {} } })).toBe(1);
  });

  test('are kept apart by the setting alone', async () => {
    expect(await callsOf({ changes: { propagateHeaders: withoutIds } })).toBe(2);
  });
});
