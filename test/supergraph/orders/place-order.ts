import { GraphQLError } from 'graphql';
import type { createVerifier } from './attestation.ts';
import type { createJudging } from './checkouts.ts';
import type { Captcha, Checkout, Database, OrderRefusalCode } from './database.ts';
import type { Item } from './goods.ts';

/** From a wish to an order: who may have what, with which proof. */

export interface PlaceOrderInput {
  readonly checkoutId: string;
  readonly item: string;
  readonly deviceToken: string;
  readonly attestation?: string | null;
}

export interface Shop {
  readonly database: Database;
  readonly letJudge: ReturnType<typeof createJudging>;
  readonly verify: ReturnType<typeof createVerifier>;
  readonly audience: string;
  /** Called with each new order, as soon as it stands. */
  readonly placed: (order: Checkout) => void;
}

type Result =
  | { readonly __typename: 'OrderPlaced'; readonly order: Checkout }
  | { readonly __typename: 'ChallengeRequired'; readonly reason: ChallengeReason; audience: string; action: string }
  | { readonly __typename: 'OrderRefused'; readonly code: OrderRefusalCode };
type ChallengeReason = 'MISSING' | 'INVALID' | 'EXPIRED' | 'SPENT';

/** While the captcha service is down, orders up to this value are placed with an unverified captcha. */
const MAX_UNVERIFIED_CENTS = 5_000;

const ACTION = 'placeOrder';
const MAX_DEVICE_TOKEN_LENGTH = 8_192;

/**
 * Places an order for this customer, or says what stands in its way.
 *
 * @throws GraphQLError if the input is malformed, or if attestations cannot be verified at the moment
 */
export async function placeOrder(shop: Shop, customerId: string, input: PlaceOrderInput): Promise<Result> {
  checkInput(input);
  // By customer and checkout, so that the checkout of somebody else is not found.
  const before = shop.database.tried(customerId, input.checkoutId);
  if (before?.orderId) return { __typename: 'OrderPlaced', order: before };
  const item = shop.database.item(input.item);
  if (!item) return { __typename: 'OrderRefused', code: 'UNKNOWN_ITEM' };
  return buy(shop, shop.database.start(customerId, input.checkoutId, item), item, input);
}

/** From a checkout that was recorded to an order, or to what stands in its way. */
async function buy(shop: Shop, started: Checkout, item: Item, input: PlaceOrderInput): Promise<Result> {
  const { database, audience } = shop;
  const { id, customerId } = started;
  const challenge = (reason: ChallengeReason): Result => {
    database.end(id, item, 'CHALLENGED', null);
    return { __typename: 'ChallengeRequired', reason, audience, action: ACTION };
  };
  const refuse = (code: OrderRefusalCode, captcha: Captcha | null = null): Result => {
    database.end(id, item, code, captcha);
    return { __typename: 'OrderRefused', code };
  };
  // Before the judgement: that would be an event for nothing, and show a bot what is decided without an order that it has to pay.
  if (item.stock === 0) return refuse('SOLD_OUT');
  const { decision } = await shop.letJudge(started, input.deviceToken);
  // A refusal says nothing about the reason, and no captcha changes it.
  if (decision === 'DENY') return refuse('UNDER_REVIEW');
  let captcha: Captcha | null = null;
  let jti: string | undefined;
  // Without a judgement nobody knows the device, so a person has to be there.
  if (decision !== 'ALLOW') {
    if (typeof input.attestation !== 'string') return challenge('MISSING');
    const proof = await shop.verify(input.attestation, ACTION, customerId).catch(throwUnavailable);
    if (typeof proof === 'string') return challenge(proof);
    captcha = proof.assurance === 'verified' ? 'VERIFIED' : 'UNVERIFIED';
    if (captcha === 'UNVERIFIED' && item.priceCents > MAX_UNVERIFIED_CENTS) return refuse('UNVERIFIED', captcha);
    jti = proof.jti;
  }

  const outcome = database.place(id, item, captcha, jti);
  if (outcome === 'SPENT') return challenge('SPENT');
  if (outcome === 'SOLD_OUT') return refuse('SOLD_OUT');
  const order = database.find(id);
  if (!order?.orderId) throw new Error('expected the order that was placed, but got none');
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
