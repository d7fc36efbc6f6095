import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { partsOf } from '../support/attestations.ts';
import { ask, post } from '../support/requests.ts';
import { FORGERIES } from './forgeries.ts';
import { GATEWAYS } from './gateways.ts';
import { orderInput, orderOutcome, sendOrder } from './orders-client.ts';
import { CLAIMED_SCOPE } from './people.ts';
import { createSigner } from './signer.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** A checkout through each gateway: the captcha gives a proof, and the order is placed with this proof or not at all. */

const supergraph = await startTestSupergraph();
const attacker = await createSigner();
afterAll(() => supergraph.stop());
beforeEach(async () => {
  await supergraph.recover();
  supergraph.done.length = 0;
});

const VERDICT = `__typename proceed attestation ... on CaptchaIndeterminate { cause code }`;
const VERIFY = `mutation ($captcha: ValidateCaptchaInput!) { validateCaptcha(input: $captcha) { ${VERDICT} } }`;
const ORDERED = `__typename
  ... on OrderPlaced { order { status customer { name } judgement { clientType signals { code } } } }
  ... on ChallengeRequired { reason }`;
const ORDER = `mutation ($order: PlaceOrderInput!) { placeOrder(input: $order) { ${ORDERED} } }`;
const BOTH = `mutation ($captcha: ValidateCaptchaInput!, $order: PlaceOrderInput!) {
  validateCaptcha(input: $captcha) { ${VERDICT} }
  placeOrder(input: $order) { ${ORDERED} }
}`;
const FOR_ORDERS = { audience: 'orders', action: 'placeOrder' };
const TOKEN = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
const CHALLENGE = { __typename: 'ChallengeRequired', reason: 'MISSING' };

describe.each(GATEWAYS)('through %s', async (_name, startGateway) => {
  const gateway = await startGateway(supergraph.supergraphSdl);
  afterAll(() => gateway.stop());
  const query = (document: string, variables = {}) => ask(gateway.url, document, variables, CLAIMED_SCOPE);
  const solve = async () => ({ ...(await supergraph.solve()), ...FOR_ORDERS });
  const order = (changes: Parameters<typeof orderInput>[0], person?: string) =>
    orderOutcome(gateway.url, orderInput(changes), person);

  /** A captcha verified for this person, or for whoever is signed in. */
  async function attest(person?: string): Promise<string> {
    const body = JSON.stringify({ query: VERIFY, variables: { captcha: await solve() } });
    const { data } = await post(gateway.url, body, person ? { 'x-user-id': person } : {});
    return data.validateCaptcha.attestation;
  }

  test('a person with a solved captcha has an order after two requests', async () => {
    const verified = await query(VERIFY, { captcha: await solve() });
    expect(verified.errors).toBeUndefined();
    expect(verified.data.validateCaptcha).toEqual({ __typename: 'CaptchaPassed', proceed: true, attestation: TOKEN });
    const { attestation } = verified.data.validateCaptcha;
    const input = orderInput({ attestation, deviceToken: 'sandbox:ios:VPN_ENABLED,CLOUD_PHONE' });
    const { data, errors } = await query(ORDER, { order: input });
    expect(errors).toBeUndefined();
    expect(data.placeOrder).toEqual({
      __typename: 'OrderPlaced',
      order: {
        status: 'PLACED',
        customer: { name: 'Ada' },
        judgement: { clientType: 'IOS', signals: [{ code: 'VPN_ENABLED' }, { code: 'CLOUD_PHONE' }] },
      },
    });
    expect(supergraph.done).toEqual(['captcha verified', 'order placed']);
  });

  test('without an attestation there is no order, but what to ask the captcha for', async () => {
    expect(await order({})).toEqual({ ...CHALLENGE, ...FOR_ORDERS });
    expect(supergraph.done).toEqual([]);
  });

  test('both mutations in one operation: the captcha passes, and the order still needs the proof', async () => {
    const { data, errors } = await query(BOTH, { captcha: await solve(), order: orderInput() });
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      validateCaptcha: { __typename: 'CaptchaPassed', proceed: true, attestation: TOKEN },
      placeOrder: CHALLENGE,
    });
    expect(supergraph.done).toEqual(['captcha verified']);
  });

  test('a captcha with invalid values is null with a code, and no order', async () => {
    const captcha = { ...(await solve()), genTime: 'yesterday' };
    const { data, errors } = await query(BOTH, { captcha, order: orderInput() });
    expect(data).toEqual({ validateCaptcha: null, placeOrder: CHALLENGE });
    expect(errors).toMatchObject([
      { path: ['validateCaptcha'], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
    ]);
    expect(supergraph.done).toEqual([]);
  });

  test('a captcha that was used before gives no proof', async () => {
    const captcha = await solve();
    await query(VERIFY, { captcha });
    const { data } = await query(VERIFY, { captcha });
    expect(data.validateCaptcha).toMatchObject({
      __typename: 'CaptchaIndeterminate',
      proceed: false,
      attestation: null,
      cause: 'CLIENT',
    });
  });

  test('a captcha that failed gives no proof', async () => {
    const captcha = { ...(await solve()), lotNumber: 'sandbox:fail:pass_token expire' };
    const { data } = await query(VERIFY, { captcha });
    expect(data.validateCaptcha).toEqual({ __typename: 'CaptchaFailed', proceed: false, attestation: null });
  });

  test('a fault that no probe confirms gives no proof', async () => {
    const captcha = { ...(await solve()), lotNumber: 'sandbox:exception:-50000' };
    const { data } = await query(VERIFY, { captcha });
    expect(data.validateCaptcha).toEqual({
      __typename: 'CaptchaIndeterminate',
      proceed: false,
      attestation: null,
      cause: 'SERVICE',
      code: '-50000',
    });
  });

  test('in an outage of the captcha service the proof is unverified, and the shop decides by the value', async () => {
    const captcha = await solve();
    supergraph.outage.captcha = true;
    const { data } = await query(VERIFY, { captcha });
    expect(data.validateCaptcha).toEqual({
      __typename: 'CaptchaIndeterminate',
      proceed: true,
      attestation: TOKEN,
      cause: 'TRANSPORT',
      code: null,
    });
    const { attestation } = data.validateCaptcha;
    const refused = { __typename: 'OrderRefused', code: 'UNVERIFIED' };
    expect(await order({ item: 'Desk', attestation })).toEqual(refused);
    expect(await order({ item: 'Vase', attestation })).toMatchObject({ __typename: 'OrderPlaced' });
    expect(supergraph.done).toEqual(['order placed']);

    supergraph.outage.captcha = false;
    const outcome = async () => (await query(VERIFY, { captcha: await solve() })).data.validateCaptcha.__typename;
    await expect.poll(outcome, { timeout: 15_000 }).toBe('CaptchaPassed');
  });

  test.each(FORGERIES)('a forgery, $name: no order', async ({ make, verdict }) => {
    const attestation = await make(supergraph.signer, attacker);
    expect(await order({ attestation })).toEqual({ __typename: 'ChallengeRequired', reason: verdict, ...FOR_ORDERS });
    expect(supergraph.done).toEqual([]);
  });

  test('the proof of one person is none for another', async () => {
    const attestation = await attest('user-2');
    expect(partsOf(attestation).payload.sub).toBe('user-2');
    expect(await order({ attestation }, 'user-3')).toMatchObject({ reason: 'INVALID' });
    expect(await order({ attestation }, 'user-2')).toMatchObject({ order: { customer: { id: 'user-2' } } });
  });

  test('50 replays at the same moment are one order', async () => {
    const attestation = await attest();
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => order({ attestation })));
    expect(outcomes.filter(({ __typename }) => __typename === 'OrderPlaced')).toHaveLength(1);
    expect(outcomes.filter(({ reason }) => reason === 'SPENT')).toHaveLength(49);
    expect(supergraph.done.filter((what) => what === 'order placed')).toHaveLength(1);
  });

  test('50 retries of one checkout at the same moment are one order, which each of them gets', async () => {
    const input = { checkoutId: crypto.randomUUID(), attestation: await attest() };
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => order(input)));
    expect(new Set(outcomes.map((outcome) => outcome.order?.id))).toEqual(new Set([expect.stringMatching(/^order-/)]));
    expect(supergraph.done.filter((what) => what === 'order placed')).toHaveLength(1);
  });

  test('an order that is rolled back leaves the proof unspent, for one order', async () => {
    const attestation = await attest();
    const soldOut = { __typename: 'OrderRefused', code: 'SOLD_OUT' };
    expect(await order({ item: 'Signed print', attestation })).toEqual(soldOut);
    expect(await order({ attestation })).toMatchObject({ __typename: 'OrderPlaced' });
    expect(await order({ attestation })).toMatchObject({ reason: 'SPENT' });
  });

  test('an error of the order service reaches the client with its code', async () => {
    const { data, errors } = await sendOrder(gateway.url, orderInput({ checkoutId: 'a b' }));
    expect(data).toEqual({ placeOrder: null });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', retryable: false } }]);
  });
});
