import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { post } from '../support/requests.ts';
import { GATEWAYS } from './gateways.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** Scopes and the metadata of trusted headers, through both gateways. */

const supergraph = await startTestSupergraph({
  trustedHeaders: {
    subject: 'x-user-id',
    scopes: 'x-user-scopes',
    metadata: { ipAddr: { header: 'x-client-ip' }, ja4: { header: 'x-ja4' }, accountId: { header: 'x-user-id' } },
  },
});
afterAll(() => supergraph.stop());
beforeEach(() => {
  supergraph.asked.length = 0;
});

const ORDERS = `query ($user: ID!) {
  user(id: $user) { name orders { id judgement { clientType signals { code } device { id orders { id } } } } }
}`;
const JUDGE = `query ($metadata: DeviceMetadataInput) {
  deviceFingerprint(token: "sandbox:android:EMULATOR", metadata: $metadata) {
    ... on DeviceFingerprint { clientType signals { code } }
  }
}`;
const ANALYST = { 'x-user-scopes': 'openid risk:read' };
const SHOPPER = { 'x-user-scopes': 'openid' };

describe.each(GATEWAYS)('through %s', async (_name, startGateway) => {
  const gateway = await startGateway(supergraph.supergraphSdl);
  afterAll(() => gateway.stop());
  const ask = (query: string, variables: Record<string, unknown>, headers: Record<string, string>) =>
    post(gateway.url, JSON.stringify({ query, variables }), headers);

  test('a person with the scope sees signals, and what hangs on the device in another subgraph', async () => {
    const { data, errors } = await ask(ORDERS, { user: 'user-1' }, ANALYST);
    expect(errors).toBeUndefined();
    expect(data.user.orders[0].judgement).toMatchObject({
      clientType: 'ANDROID',
      signals: [{ code: 'EMULATOR' }, { code: 'VPN_ENABLED' }],
      device: { orders: [{ id: 'order-1' }, { id: 'order-3' }, { id: 'order-5' }] },
    });
  });

  test('for a person without the scope judgements are null with FORBIDDEN, and the orders whole', async () => {
    const { data, errors = [], text } = await ask(ORDERS, { user: 'user-1' }, SHOPPER);
    expect(data.user.name).toBe('Ada');
    expect(data.user.orders).toEqual([
      { id: 'order-1', judgement: null },
      { id: 'order-2', judgement: null },
    ]);
    expect(errors.map(({ extensions }) => extensions)).toEqual(
      Array(2).fill(expect.objectContaining({ code: 'FORBIDDEN', retryable: false })),
    );
    expect(text).not.toMatch(/EMULATOR|sandbox:/);
    expect(supergraph.asked).toEqual([]);
  });

  test('the headers of the edge and the person reach the service, whatever the page claims', async () => {
    const headers = { ...SHOPPER, 'x-user-id': 'user-2', 'x-client-ip': '[::ffff:203.0.113.7]:443', 'x-ja4': 't13d' };
    const metadata = { ipAddrV6: '2001:db8::bad', accountId: 'user-1', ja4: 'mine', emailDomain: 'shop.example' };
    const { data } = await ask(JUDGE, { metadata }, headers);
    expect(data.deviceFingerprint).toEqual({ clientType: 'ANDROID', signals: null });
    expect(supergraph.asked.map(({ body }) => JSON.parse(body).metadata)).toEqual([
      { account_id: 'user-2', email_domain: 'shop.example', ip_addr_v4: '203.0.113.7', ja4: 't13d' },
    ]);
  });
});
