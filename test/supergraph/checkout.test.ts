import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ask } from '../support/requests.ts';
import { GATEWAYS } from './gateways.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** A checkout through each gateway: the captcha first, then the order. */

const supergraph = await startTestSupergraph();
afterAll(() => supergraph.stop());
beforeEach(async () => {
  await supergraph.recover();
  supergraph.done.length = 0;
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

  test('a captcha that cannot be verified is data, with proceed by the policy', async () => {
    const captcha = await supergraph.solve();
    supergraph.outage.all = true;
    const { data, errors } = await query(VERIFY, { captcha });
    expect(errors).toBeUndefined();
    expect(data.validateCaptcha).toEqual({
      __typename: 'CaptchaIndeterminate',
      proceed: true,
      cause: 'TRANSPORT',
      code: null,
    });
  });

  test('a captcha that was used before is data, with proceed false', async () => {
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

  test('checkout: a failed captcha does not stop the order of the same operation, so a page has to send two operations', async () => {
    const captcha = await supergraph.solve();
    await query(VERIFY, { captcha });
    const { data } = await query(CHECKOUT, { captcha, order: ORDER });
    expect(data).toMatchObject({ validateCaptcha: { proceed: false }, placeOrder: PLACED });
  });

  test('checkout: a captcha with invalid values is null with a code, and the order is not null', async () => {
    const captcha = { ...(await supergraph.solve()), genTime: 'yesterday' };
    const { data, errors } = await query(CHECKOUT, { captcha, order: ORDER });
    expect(data).toEqual({ validateCaptcha: null, placeOrder: PLACED });
    expect(errors).toMatchObject([
      { path: ['validateCaptcha'], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
    ]);
    expect(supergraph.done).toEqual(['order placed']);
  });
});
