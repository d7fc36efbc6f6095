import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ask } from '../support/requests.ts';
import { GATEWAYS } from './gateways.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** A checkout through each gateway: the captcha first, then the order. */

const supergraph = await startTestSupergraph();
afterAll(() => supergraph.stop());
beforeEach(() => {
  supergraph.done.length = 0;
  supergraph.dead = false;
});

const CHECKOUT = `mutation ($captcha: ValidateCaptchaInput!, $order: PlaceOrderInput!) {
  validateCaptcha(input: $captcha) { __typename proceed ... on CaptchaIndeterminate { cause code } }
  placeOrder(input: $order) { status customer { name } deviceFingerprint { clientType signals { code } } }
}`;
const VERIFY = `mutation ($captcha: ValidateCaptchaInput!) {
  validateCaptcha(input: $captcha) { __typename proceed ... on CaptchaIndeterminate { cause code } }
}`;
const ORDER = { customerId: 'user-1', item: 'Vase', deviceToken: 'sandbox:ios:VPN_ENABLED' };
const PLACED = {
  status: 'PLACED',
  customer: { name: 'Ada' },
  deviceFingerprint: { clientType: 'IOS', signals: [{ code: 'VPN_ENABLED' }] },
};

describe.each(GATEWAYS)('through %s', async (_name, startGateway) => {
  const gateway = await startGateway(supergraph.supergraphSdl);
  afterAll(() => gateway.stop());
  const query = (document: string, variables = {}) => ask(gateway.url, document, variables);

  test('a captcha that cannot be asked about goes by the policy, as data', async () => {
    const captcha = await supergraph.solve();
    supergraph.dead = true;
    const { data, errors } = await query(VERIFY, { captcha });
    expect(errors).toBeUndefined();
    expect(data.validateCaptcha).toEqual({
      __typename: 'CaptchaIndeterminate',
      proceed: true,
      cause: 'TRANSPORT',
      code: null,
    });
  });

  test('an exhausted captcha is data that says no', async () => {
    const captcha = await supergraph.solve();
    const first = await query(VERIFY, { captcha });
    expect(first.data.validateCaptcha).toEqual({ __typename: 'CaptchaPassed', proceed: true });
    const second = await query(VERIFY, { captcha });
    expect(second.errors).toBeUndefined();
    expect(second.data.validateCaptcha).toMatchObject({
      __typename: 'CaptchaIndeterminate',
      proceed: false,
      cause: 'CLIENT',
    });
  });

  test('checkout: the captcha is verified before the order is placed, in one operation', async () => {
    const { data, errors } = await query(CHECKOUT, { captcha: await supergraph.solve(), order: ORDER });
    expect(errors).toBeUndefined();
    expect(data).toEqual({ validateCaptcha: { __typename: 'CaptchaPassed', proceed: true }, placeOrder: PLACED });
    expect(supergraph.done).toEqual(['captcha verified', 'order placed']);
  });

  test('checkout: an answer of no does not hold the order back; a page that wants that sends two operations', async () => {
    const captcha = await supergraph.solve();
    await query(VERIFY, { captcha });
    const { data } = await query(CHECKOUT, { captcha, order: ORDER });
    expect(data).toMatchObject({ validateCaptcha: { proceed: false }, placeOrder: PLACED });
  });

  test('checkout: a captcha that is no captcha is null with a code, and does not null the order', async () => {
    const captcha = { ...(await supergraph.solve()), genTime: 'yesterday' };
    const { data, errors } = await query(CHECKOUT, { captcha, order: ORDER });
    expect(data).toEqual({ validateCaptcha: null, placeOrder: PLACED });
    expect(errors).toMatchObject([
      { path: ['validateCaptcha'], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
    ]);
    expect(supergraph.done).toEqual(['order placed']);
  });
});
