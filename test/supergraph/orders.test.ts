import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Running } from './listen.ts';
import type { Order } from './orders/goods.ts';
import { ORDERS_AUDIENCE, type OrdersOptions, startOrders } from './orders.ts';
import { orderInput, orderOutcome, sendOrder } from './orders-client.ts';
import { createSigner, goodClaims, ISSUER, startKeyServer } from './signer.ts';

/** The order subgraph alone, over HTTP, with a key server at an address of its own. */

const signer = await createSigner();
const keyServer = await startKeyServer([signer.publicJwk]);
const placed: Order[] = [];
const orders = await start();
afterEach(() => {
  placed.length = 0;
  keyServer.keys = [signer.publicJwk];
});
afterAll(async () => {
  await orders.stop();
  await keyServer.stop();
});

function start(options: Partial<OrdersOptions> = {}): Promise<Running> {
  const attestation = { jwksUrl: keyServer.jwksUrl, issuer: ISSUER, ...ORDERS_AUDIENCE };
  return startOrders({ attestation, placed: (order) => placed.push(order), ...options });
}

/** Orders something as `user-1`, unless it says otherwise, and gives what became of it. */
const order = (changes: Readonly<Record<string, unknown>>, person?: string) =>
  orderOutcome(orders.url, orderInput(changes), person);

const challengeFor = (reason: string) => ({
  __typename: 'ChallengeRequired',
  reason,
  audience: 'orders',
  action: 'placeOrder',
});

describe('an order', () => {
  test('without an attestation is answered with what to ask the captcha for', async () => {
    expect(await order({})).toEqual(challengeFor('MISSING'));
    expect(await order({ attestation: null })).toEqual(challengeFor('MISSING'));
    expect(placed).toEqual([]);
  });

  test('that was there before is none of a checkout that has its id', async () => {
    expect(await order({ checkoutId: 'order-1' })).toEqual(challengeFor('MISSING'));
  });

  test('with an attestation is placed for the person who is signed in', async () => {
    expect(await order({ attestation: await signer.sign() })).toEqual({
      __typename: 'OrderPlaced',
      order: { id: expect.stringMatching(/^order-/), item: 'Vase', customer: { id: 'user-1' } },
    });
    expect(placed).toMatchObject([{ item: 'Vase', priceCents: 2_400, status: 'PLACED', customerId: 'user-1' }]);
  });

  test('is refused for an item that does not exist, before anybody has to solve a captcha', async () => {
    expect(await order({ item: 'Unicorn' })).toEqual({ __typename: 'OrderRefused', code: 'UNKNOWN_ITEM' });
  });

  test.each([
    ['nobody', undefined],
    ['two people', 'user-1, user-2'],
    ['a text that is no number of a customer', 'user 1'],
  ])('of %s is an error, also with an attestation', async (_who, person) => {
    const attestation = await signer.sign({ sub: undefined });
    const { data, errors } = await sendOrder(orders.url, orderInput({ attestation }), person ?? '');
    expect(data).toEqual({ placeOrder: null });
    expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }]);
    expect(placed).toEqual([]);
  });

  test.each([
    ['checkoutId', ''],
    ['checkoutId', 'x'.repeat(65)],
    ['checkoutId', 'a b'],
    ['deviceToken', 'x'.repeat(8_193)],
  ])('with a malformed %s is an error that does not repeat it', async (field, value) => {
    const { data, errors, text } = await sendOrder(orders.url, orderInput({ [field]: value }));
    expect(data).toEqual({ placeOrder: null });
    expect(errors).toMatchObject([
      { message: expect.stringMatching(`^${field}: expected`), extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    expect(text).not.toMatch(/x{65}|a b/);
  });
});

describe('an attestation that names nobody', () => {
  test('is none for an order', async () => {
    expect(await order({ attestation: await signer.sign({ sub: undefined }) })).toEqual(challengeFor('INVALID'));
    expect(placed).toEqual([]);
  });

  test('is good for a service that allows that', async () => {
    const lenient = { jwksUrl: keyServer.jwksUrl, issuer: ISSUER, ...ORDERS_AUDIENCE, subject: 'optional' } as const;
    const shop = await start({ attestation: lenient });
    try {
      const input = orderInput({ attestation: await signer.sign({ sub: undefined }) });
      expect(await orderOutcome(shop.url, input, 'user-2')).toMatchObject({ order: { customer: { id: 'user-2' } } });
    } finally {
      await shop.stop();
    }
  });
});

describe('an unverified captcha, as there are in an outage', () => {
  test('is enough for an order of 50.00', async () => {
    const attestation = await signer.sign({ asr: 'unverified' });
    expect(await order({ item: 'Lamp', attestation })).toMatchObject({ __typename: 'OrderPlaced' });
  });

  test('is too little for an order above, and stays unspent', async () => {
    const attestation = await signer.sign({ asr: 'unverified' });
    const refused = { __typename: 'OrderRefused', code: 'UNVERIFIED' };
    expect(await order({ item: 'Gift card', attestation })).toEqual(refused);
    expect(await order({ item: 'Pen', attestation })).toMatchObject({ __typename: 'OrderPlaced' });
  });
});

describe('the same checkout again', () => {
  test('is the same order, whether its attestation is spent, expired, another one or left out', async () => {
    const checkoutId = 'checkout-1';
    const attestation = await signer.sign();
    const first = await order({ checkoutId, attestation });
    const expired = await signer.sign({ iat: 1_700_000_000, exp: 1_700_000_120 });
    for (const again of [attestation, expired, await signer.sign(), 'nonsense', undefined]) {
      expect(await order({ checkoutId, attestation: again })).toEqual(first);
    }
    expect(placed).toHaveLength(1);
  });

  test('leaves another attestation unspent', async () => {
    const checkoutId = 'checkout-2';
    await order({ checkoutId, attestation: await signer.sign() });
    const attestation = await signer.sign();
    await order({ checkoutId, attestation });
    expect(await order({ attestation })).toMatchObject({ __typename: 'OrderPlaced' });
    expect(placed).toHaveLength(2);
  });

  test('is one order if it is sent 50 times at the same moment, with an attestation each', async () => {
    const checkoutId = 'checkout-3';
    const attestations = await Promise.all(Array.from({ length: 50 }, () => signer.sign()));
    const outcomes = await Promise.all(attestations.map((attestation) => order({ checkoutId, attestation })));
    expect(new Set(outcomes.map((outcome) => outcome.order?.id)).size).toBe(1);
    expect(placed).toHaveLength(1);
  });

  test('by somebody else is a checkout of theirs, which reveals nothing about the first', async () => {
    const checkoutId = 'checkout-4';
    await order({ checkoutId, attestation: await signer.sign() });
    expect(await order({ checkoutId }, 'user-2')).toEqual(await order({}, 'user-2'));
    const attestation = await signer.sign({ sub: 'user-2' });
    expect(await order({ checkoutId, attestation }, 'user-2')).toMatchObject({ order: { customer: { id: 'user-2' } } });
  });
});

test('a key of another algorithm is trusted for nothing, even if the key set has it', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  keyServer.keys = [signer.publicJwk, { ...publicKey.export({ format: 'jwk' }), kid: 'other' }];
  const fresh = await start();
  try {
    const header = { alg: 'ES384', typ: 'captcha-attestation+jwt', kid: 'other' };
    const attestation = await new SignJWT(goodClaims()).setProtectedHeader(header).sign(privateKey);
    expect(await orderOutcome(fresh.url, orderInput({ attestation }))).toEqual(challengeFor('INVALID'));
    const good = orderInput({ attestation: await signer.sign() });
    expect(await orderOutcome(fresh.url, good)).toMatchObject({ __typename: 'OrderPlaced' });
  } finally {
    await fresh.stop();
  }
});

describe('while the keys cannot be fetched', () => {
  const unavailable = {
    message: 'The captcha cannot be checked at the moment, so nothing was ordered.',
    extensions: { code: 'ATTESTATION_UNAVAILABLE', retryable: true },
  };

  test.each([
    ['nothing answers', (): undefined => undefined],
    ['there is no key set', () => 'none' as never],
  ])(
    'because %s, an order is an error that can be retried, and then the same attestation is good',
    async (_why, keys) => {
      keyServer.keys = keys();
      const fresh = await start();
      try {
        const input = orderInput({ attestation: await signer.sign() });
        const { data, errors } = await sendOrder(fresh.url, input);
        expect(data).toEqual({ placeOrder: null });
        expect(errors).toMatchObject([unavailable]);
        expect(Object.keys(errors?.[0]?.extensions ?? {})).toEqual(['code', 'retryable']);
        expect(placed).toEqual([]);
        keyServer.keys = [signer.publicJwk];
        expect(await orderOutcome(fresh.url, input)).toMatchObject({ __typename: 'OrderPlaced' });
      } finally {
        await fresh.stop();
      }
    },
  );

  test('the keys that are known are good for orders', async () => {
    await order({ attestation: await signer.sign() });
    keyServer.keys = undefined;
    expect(await order({ attestation: await signer.sign() })).toMatchObject({ __typename: 'OrderPlaced' });
  });
});
