import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ask } from '../support/requests.ts';
import { FORGERIES } from './forgeries.ts';
import { ORDERS_AUDIENCE, type OrdersOptions, startOrders } from './orders.ts';
import { orderAtOnce, orderInput, orderOutcome, sendOrder } from './orders-client.ts';
import { createSigner, ISSUER, startKeyServer } from './signer.ts';
import { SECRETS } from './test-secrets.ts';
import { startUsers } from './users.ts';

/** The order subgraph over HTTP while no device can be judged, so that each order needs a proof: which one it takes, and how often. */

const ours = await createSigner();
const attacker = await createSigner();
const keyServer = await startKeyServer([ours.publicJwk]);
const folder = mkdtempSync(join(tmpdir(), 'device-trust-orders-'));
const file = join(folder, 'orders.sqlite');
const attestation = { jwksUrl: keyServer.jwksUrl, issuer: ISSUER, ...ORDERS_AUDIENCE };
const start = (changes: Partial<OrdersOptions> = {}) =>
  startOrders({
    attestation,
    deviceTrust: { url: 'http://127.0.0.1:9/graphql', secret: 'any' },
    secret: SECRETS.orders,
    ...changes,
  });
const [orders, replica] = [await start({ file }), await start({ file })];
const users = await startUsers({ secret: SECRETS.users });
afterAll(async () => {
  for (const { stop } of [orders, replica, users, keyServer]) await stop();
  rmSync(folder, { recursive: true });
});

/** Orders something as `user-1`, unless it says otherwise, and gives what became of it. */
const order = (changes: Parameters<typeof orderInput>[0], person?: string) =>
  orderOutcome(orders.url, orderInput(changes), person);
const fifty = (changes: () => Promise<Parameters<typeof orderInput>[0]>) =>
  orderAtOnce(50, [orders.url, replica.url], async () => orderInput(await changes()));
const challengeFor = (reason: string) => ({
  __typename: 'ChallengeRequired',
  reason,
  audience: 'orders',
  action: 'placeOrder',
});
const PLACED = { __typename: 'OrderPlaced' };

describe('only a gateway with the secret of the subgraph', () => {
  const refused = [{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }];

  test.each([
    ['no secret', {}],
    ['that of another subgraph', { 'router-authorization': SECRETS['device-trust'] }],
    ['more than the secret', { 'router-authorization': `${SECRETS.orders}x` }],
  ])('a gateway with %s gets a 401, and not even the schema', async (_what, headers) => {
    for (const { url } of [orders, users]) {
      const person = { 'x-user-id': 'user-1', 'x-user-scopes': 'risk:read' };
      const { status, data, errors } = await ask(url, '{ _service { sdl } }', {}, { ...person, ...headers });
      expect([status, data]).toEqual([401, undefined]);
      expect(errors).toMatchObject(refused);
    }
  });
});

describe('an order', () => {
  test('an order without an attestation is answered with what to ask the captcha for', async () => {
    expect(await order({})).toEqual(challengeFor('MISSING'));
    expect(await order({ attestation: null })).toEqual(challengeFor('MISSING'));
  });

  test('an order with an attestation is placed for the person who is signed in', async () => {
    expect(await order({ attestation: await ours.sign() })).toEqual({
      __typename: 'OrderPlaced',
      order: {
        id: expect.stringMatching(/^order-/),
        item: 'Vase',
        priceCents: 2_400,
        customer: { id: 'user-1' },
      },
    });
  });

  test.each([
    ['nobody', ''],
    ['two people', 'user-1, user-2'],
    ['a text that is no id', 'user 1'],
  ])('an order of %s is an error, also with an attestation', async (_who, person) => {
    const input = orderInput({ attestation: await ours.sign() });
    const { data, errors } = await sendOrder(orders.url, input, person);
    expect(data).toEqual({ placeOrder: null });
    expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }]);
  });
});

test.each(FORGERIES)('a forgery, $name: no order, but $verdict', async ({ make, verdict }) => {
  // The keys have just been asked for, so one that is unknown may be a new one.
  expect(await order({ attestation: await ours.sign() })).toMatchObject(PLACED);
  const { data, errors } = await sendOrder(orders.url, orderInput({ attestation: await make(ours, attacker) }));
  expect(data).toEqual({ placeOrder: verdict === 'TRY_AGAIN' ? null : challengeFor(verdict) });
  const unavailable = [{ code: 'ATTESTATION_UNAVAILABLE', retryable: true }];
  expect(errors?.map(({ extensions }) => extensions)).toEqual(verdict === 'TRY_AGAIN' ? unavailable : undefined);
});

describe('an attestation that was used', () => {
  test('an attestation that is used 50 times at the same moment, at two replicas, is one order', async () => {
    const token = await ours.sign();
    const outcomes = await fifty(async () => ({ attestation: token }));
    expect(outcomes.filter(({ __typename }) => __typename === 'OrderPlaced')).toHaveLength(1);
    expect(outcomes.filter(({ reason }) => reason === 'SPENT')).toHaveLength(49);
  });

  test('an attestation that was used is spent in another token of the same challenge as well', async () => {
    const token = await ours.sign({ jti: 'a-challenge' });
    expect(await order({ attestation: token })).toMatchObject(PLACED);
    for (const spent of [token, await ours.sign({ jti: 'a-challenge' })]) {
      expect(await order({ attestation: spent, item: 'Pen' })).toEqual(challengeFor('SPENT'));
    }
  });
});

describe('the same checkout again', () => {
  test('the same checkout again is the same order, whatever comes with it, and leaves another attestation unspent', async () => {
    const checkoutId = 'checkout-1';
    const first = await order({ checkoutId, attestation: await ours.sign() });
    const unspent = await ours.sign();
    for (const again of [unspent, 'nonsense', undefined]) {
      expect(await order({ checkoutId, attestation: again })).toEqual(first);
    }
    expect(await order({ attestation: unspent })).toMatchObject(PLACED);
  });

  test('the same checkout again is one order if it is sent 50 times at the same moment, at two replicas, with an attestation each', async () => {
    const outcomes = await fifty(async () => ({ checkoutId: 'checkout-2', attestation: await ours.sign() }));
    expect(new Set(outcomes.map((outcome) => outcome.order?.id))).toEqual(new Set([expect.stringMatching(/^order-/)]));
  });
});

test('an order while the keys cannot be fetched is an error that can be retried, and a second later the same attestation is good', async () => {
  keyServer.keys = undefined;
  const fresh = await start();
  const input = orderInput({ attestation: await ours.sign() });
  const { data, errors } = await sendOrder(fresh.url, input);
  keyServer.keys = [ours.publicJwk];
  expect(data).toEqual({ placeOrder: null });
  expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'ATTESTATION_UNAVAILABLE', retryable: true }]);
  await expect.poll(() => orderOutcome(fresh.url, input)).toMatchObject(PLACED);
  await fresh.stop();
});
