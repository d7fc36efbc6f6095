import { GraphQLError } from 'graphql';
import type { createVerifier } from './attestation.ts';
import type { CheckoutTry } from './checkouts.ts';
import type { Database } from './database.ts';
import type { Item, Order } from './goods.ts';

/** From a wish to an order: who may have what, with which proof. */

export interface PlaceOrderInput {
  readonly checkoutId: string;
  readonly item: string;
  readonly deviceToken: string;
  readonly attestation?: string | null;
}

export interface Shop {
  readonly database: Database;
  readonly verify: ReturnType<typeof createVerifier>;
  readonly audience: string;
  /** Called with each new order, as soon as it stands. */
  readonly placed: (order: Order) => void;
}

type Result =
  | { readonly __typename: 'OrderPlaced'; readonly order: Order }
  | { readonly __typename: 'ChallengeRequired'; readonly reason: ChallengeReason; audience: string; action: string }
  | { readonly __typename: 'OrderRefused'; readonly code: OrderRefusalCode };
type OrderRefusalCode = 'UNKNOWN_ITEM' | 'SOLD_OUT' | 'UNVERIFIED' | 'UNDER_REVIEW';
type ChallengeReason = 'MISSING' | 'INVALID' | 'EXPIRED' | 'SPENT';

/** While the captcha service is down, orders up to this value are placed with an unverified captcha. */
export const MAX_UNVERIFIED_CENTS = 5_000;

const ACTION = 'placeOrder';
const MAX_DEVICE_TOKEN_LENGTH = 8_192;

/**
 * Places an order for this customer, or says what stands in its way.
 *
 * @throws GraphQLError if the input is malformed, or if attestations cannot be verified at the moment
 */
export async function placeOrder(shop: Shop, customerId: string, input: PlaceOrderInput): Promise<Result> {
  checkInput(input);
  const { database } = shop;
  const { checkoutId, deviceToken, attestation } = input;
  // By customer and checkout, so that the checkout of somebody else is not found.
  const before = database.orderOf(customerId, checkoutId);
  if (before) return { __typename: 'OrderPlaced', order: before };

  const item = database.item(input.item);
  if (!item) return { __typename: 'OrderRefused', code: 'UNKNOWN_ITEM' };
  const checkout = { customerId, checkoutId, item: item.name, deviceToken };
  database.checkouts.start(checkout);
  const result = await buy(shop, checkout, item, attestation);
  if (result.__typename === 'ChallengeRequired') database.checkouts.end(checkout, 'CHALLENGED');
  if (result.__typename === 'OrderRefused') database.checkouts.end(checkout, result.code);
  return result;
}

/** From a checkout that was recorded to an order, or to what stands in its way. */
async function buy(shop: Shop, checkout: CheckoutTry, item: Item, attestation?: string | null): Promise<Result> {
  const { database } = shop;
  const { customerId, checkoutId } = checkout;
  // Before the judgement: that would be an event for nothing, and show a bot what is decided without an order that it has to pay.
  if (item.stock === 0) return { __typename: 'OrderRefused', code: 'SOLD_OUT' };
  const judgement = await database.checkouts.judgementOf(checkout);
  const challenge = (reason: ChallengeReason): Result => {
    return { __typename: 'ChallengeRequired', reason, audience: shop.audience, action: ACTION };
  };
  // A refusal says nothing about the reason, and no captcha changes it.
  if (judgement?.action === 'DENY') return { __typename: 'OrderRefused', code: 'UNDER_REVIEW' };
  let jti: string | undefined;
  // Without a judgement nobody knows the device, so a person has to be there.
  if (judgement?.action !== 'ALLOW') {
    if (typeof attestation !== 'string') return challenge('MISSING');
    const proof = await shop.verify(attestation, ACTION, customerId).catch(throwUnavailable);
    if (typeof proof === 'string') return challenge(proof);
    if (proof.assurance === 'unverified' && item.priceCents > MAX_UNVERIFIED_CENTS) {
      return { __typename: 'OrderRefused', code: 'UNVERIFIED' };
    }
    jti = proof.jti;
  }

  const outcome = database.place({ customerId, checkoutId, item, judgement, jti });
  if (outcome === 'SPENT') return challenge('SPENT');
  if (outcome === 'SOLD_OUT') return { __typename: 'OrderRefused', code: 'SOLD_OUT' };
  const order = database.orderOf(customerId, checkoutId);
  if (!order) throw new Error('expected the order that was placed, but got none');
  if (outcome === 'PLACED') shop.placed(order);
  return { __typename: 'OrderPlaced', order };
}

function checkInput({ checkoutId, deviceToken }: PlaceOrderInput): void {
  const extensions = { code: 'BAD_USER_INPUT', retryable: false };
  if (!/^[\w-]{1,64}$/.test(checkoutId)) {
    throw new GraphQLError('checkoutId: expected 1 to 64 letters, digits, _ or -.', { extensions });
  }
  if (deviceToken.length > MAX_DEVICE_TOKEN_LENGTH) {
    throw new GraphQLError(`deviceToken: expected at most ${MAX_DEVICE_TOKEN_LENGTH} characters.`, { extensions });
  }
}

/** Nobody knows whether the proof is one, so nothing is ordered; and the reason is none of the customer's business. */
function throwUnavailable(): never {
  throw new GraphQLError('The captcha cannot be checked at the moment, so nothing was ordered.', {
    extensions: { code: 'ATTESTATION_UNAVAILABLE', retryable: true },
  });
}
