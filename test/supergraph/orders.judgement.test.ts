import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ask } from '../support/requests.ts';
import { composeShopVariant } from './compose.ts';
import { GATEWAYS } from './gateways.ts';
import { orderInput, orderOutcome, sendOrder } from './orders-client.ts';
import { CLAIMED_SCOPE } from './people.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** The order subgraph judges the device of each checkout once, and the shop learns nothing but what to do next. */

const supergraph = await startTestSupergraph();
afterAll(() => supergraph.stop());
beforeEach(async () => {
  await supergraph.recover();
  supergraph.alter = (answer) => answer;
  supergraph.asked.length = 0;
  supergraph.done.length = 0;
});

const CLEAN = 'sandbox:ios';
// The device of order-1.
const EMULATOR = 'sandbox:android:EMULATOR,VPN_ENABLED';
const BLACKLISTED = 'sandbox:web:WHITELIST_IP';
const CHALLENGE = { __typename: 'ChallengeRequired', reason: 'MISSING', audience: 'orders', action: 'placeOrder' };
const REFUSED = { __typename: 'OrderRefused', code: 'UNDER_REVIEW' };
const PLACED = { __typename: 'OrderPlaced', order: { item: 'Vase', customer: { id: 'user-1' } } };
const LOOK = `query ($id: ID!) { order(id: $id) {
  judgement { eventType subject clientType signals { code } decision { action rule } device { id orders { id } } }
} }`;

/** How many events the fingerprint service has counted since the test began. */
const events = () => supergraph.asked.filter(({ url }) => url.includes('/fp_query/')).length;

const shopGraph = await composeShopVariant(supergraph.subgraphs);

describe.each(GATEWAYS)('through %s', async (_name, startGateway) => {
  const shop = await startGateway(shopGraph);
  const staff = await startGateway(supergraph.supergraphSdl);
  afterAll(() => Promise.all([shop.stop(), staff.stop()]));

  test.each([
    ['a clean device is placed with no captcha', CLEAN, PLACED],
    ['an emulator is challenged', EMULATOR, CHALLENGE],
    ['a blacklisted device is refused', BLACKLISTED, REFUSED],
    ['a token that cannot be judged is challenged', 'made-up', CHALLENGE],
  ])('an order from %s, and the shop says no more', async (_what, deviceToken, outcome) => {
    const { data, errors, text } = await sendOrder(shop.url, orderInput({ deviceToken }));
    expect(errors).toBeUndefined();
    expect(data.placeOrder).toMatchObject(outcome);
    expect(events()).toBe(1);
    expect(text).not.toMatch(/EMULATOR|WHITELIST|serious|listed|eyJ|sandbox:|DENY|judgement/);
  });

  test.each(['judgement { sealed }', 'judgement { signals { code } }', 'judgement { decision { rule } }'])(
    'a page cannot ask the shop for %s',
    async (field) => {
      const { data, errors } = await ask(shop.url, `{ order(id: "order-1") { ${field} } }`);
      expect(data?.order).toBeUndefined();
      expect(errors?.[0]?.message).toContain('Cannot query field "judgement" on type "Order"');
    },
  );

  test('a captcha opens the way for a challenged device, and for a refused one it does not', async () => {
    const input = (deviceToken: string) => orderInput({ deviceToken });
    const [emulator, blacklisted] = [input(EMULATOR), input(BLACKLISTED)];
    expect(await orderOutcome(shop.url, emulator)).toEqual(CHALLENGE);
    expect(await orderOutcome(shop.url, blacklisted)).toEqual(REFUSED);
    const attestation = await supergraph.signer.sign();
    expect(await orderOutcome(shop.url, { ...blacklisted, attestation })).toEqual(REFUSED);
    expect(await orderOutcome(shop.url, { ...emulator, attestation })).toMatchObject(PLACED);
    expect(events()).toBe(2);
  });

  test('retries and 100 views of a challenged order leave it at one event, also with a cleaner token', async () => {
    const input = orderInput({ deviceToken: EMULATOR });
    for (const deviceToken of [EMULATOR, EMULATOR, CLEAN]) {
      expect(await orderOutcome(shop.url, { ...input, deviceToken })).toEqual(CHALLENGE);
    }
    const attestation = await supergraph.signer.sign();
    const { order } = await orderOutcome(shop.url, { ...input, attestation });
    expect(await orderOutcome(shop.url, input)).toMatchObject({ order });
    for (let view = 0; view < 100; view += 1) {
      const { data, errors } = await ask(staff.url, LOOK, { id: order?.id }, CLAIMED_SCOPE);
      expect(errors).toBeUndefined();
      expect(data.order.judgement).toMatchObject({
        eventType: 'checkout',
        subject: 'user-1',
        clientType: 'ANDROID',
        signals: [{ code: 'EMULATOR' }, { code: 'VPN_ENABLED' }],
        decision: { action: 'CHALLENGE', rule: 'serious' },
        device: { orders: expect.arrayContaining([{ id: 'order-1' }, { id: order?.id }]) },
      });
    }
    expect(events()).toBe(1);
  });

  test.each([
    ['clean', CLEAN, PLACED],
    ['challenged', EMULATOR, CHALLENGE],
  ])('20 first tries of one %s checkout at the same moment are one event', async (_what, deviceToken, outcome) => {
    const input = orderInput({ deviceToken });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => orderOutcome(shop.url, input)));
    for (const one of outcomes) expect(one).toMatchObject(outcome);
    expect(new Set(outcomes.map(({ order }) => order?.id)).size).toBe(1);
    expect(events()).toBe(1);
  });

  test('the same checkout of two people is two checkouts', async () => {
    const input = orderInput({ deviceToken: EMULATOR });
    await orderOutcome(shop.url, input, 'user-1');
    await orderOutcome(shop.url, input, 'user-2');
    expect(events()).toBe(2);
  });

  test('without a judgement a clean device needs a captcha, and the next try is judged', async () => {
    const input = orderInput({ deviceToken: CLEAN });
    supergraph.outage.all = true;
    expect(await orderOutcome(shop.url, input)).toEqual(CHALLENGE);
    await supergraph.recover();
    expect(await orderOutcome(shop.url, input)).toMatchObject(PLACED);
  });

  test('a captcha places an order that cannot be judged, and the order has no judgement', async () => {
    const attestation = await supergraph.signer.sign();
    const { order } = await orderOutcome(shop.url, orderInput({ deviceToken: 'made-up', attestation }));
    const { data, errors } = await ask(staff.url, LOOK, { id: order?.id }, CLAIMED_SCOPE);
    expect([errors, data]).toEqual([undefined, { order: { judgement: null } }]);
  });

  test('an unknown item is refused before anything is judged', async () => {
    const input = orderInput({ item: 'Unicorn', deviceToken: CLEAN });
    expect(await orderOutcome(shop.url, input)).toEqual({ __typename: 'OrderRefused', code: 'UNKNOWN_ITEM' });
    expect(events()).toBe(0);
  });
});
