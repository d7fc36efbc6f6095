import { GraphQLError } from 'graphql';
import type { createVerifier } from '../../../schema/recipes/attestation.ts';
import { failure } from '../subgraph.ts';
import type { createJudging } from './checkouts.ts';
import type { Captcha, Checkout, Database, OrderRefusalCode } from './database.ts';
import { ITEMS, MAX_UNVERIFIED_CENTS } from './goods.ts';

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

const ACTION = 'placeOrder';
const MAX_DEVICE_TOKEN_LENGTH = 8_192;

/**
 * Places an order for this customer, or says what stands in its way.
 *
 * @throws GraphQLError if the input is malformed, if the checkout is about another item, or if attestations cannot be verified at the moment
 */
export async function placeOrder(shop: Shop, customerId: string, input: PlaceOrderInput): Promise<Result> {
  checkInput(input);
  const { database } = shop;
  const item = ITEMS.find(({ name }) => name === input.item);
  // By customer and checkout, so that the checkout of somebody else is not found.
  const before = database.tried(customerId, input.checkoutId);
  const checkout = before ?? (item && database.start(customerId, input.checkoutId, item));
  if (!checkout) return { __typename: 'OrderRefused', code: 'UNKNOWN_ITEM' };
  // What was judged and recorded stays what it was about.
  if (checkout.item !== input.item) throw failure('BAD_USER_INPUT', 'checkoutId: expected a new one for another item.');
  if (checkout.orderId) return { __typename: 'OrderPlaced', order: checkout };
  return buy(shop, checkout, input);
}

/** From a checkout that was recorded to an order, or to what stands in its way. */
async function buy(shop: Shop, started: Checkout, input: PlaceOrderInput): Promise<Result> {
  const { database, audience } = shop;
  const { id, customerId, priceCents } = started;
  const challenge = (reason: ChallengeReason): Result => {
    database.end(id, 'CHALLENGED', 'NOT_SOLVED');
    return { __typename: 'ChallengeRequired', reason, audience, action: ACTION };
  };
  const refuse = (code: OrderRefusalCode, captcha: Captcha | null = null): Result => {
    database.end(id, code, captcha);
    return { __typename: 'OrderRefused', code };
  };
  const judged = await shop.letJudge(started, input.deviceToken);
  const { decision } = judged;
  // A refusal says nothing about the reason, and no captcha changes it.
  if (decision === 'DENY') return refuse('UNDER_REVIEW');
  const isExpensive = priceCents > MAX_UNVERIFIED_CENTS;
  // Otherwise a token that somebody made up would be as good as a device.
  if (decision === 'NOT_JUDGED' && isExpensive) return refuse('UNVERIFIED');
  let captcha: Captcha | null = null;
  let jti: string | undefined;
  // Without a judgement nobody knows the device, so a person has to be there.
  if (decision !== 'ALLOW') {
    if (typeof input.attestation !== 'string') return challenge('MISSING');
    const proof = await shop.verify(input.attestation, ACTION, customerId).catch(throwUnavailable);
    if (typeof proof === 'string') return challenge(proof);
    captcha = proof.assurance === 'verified' ? 'VERIFIED' : 'UNVERIFIED';
    if (captcha === 'UNVERIFIED' && isExpensive) return refuse('UNVERIFIED', captcha);
    jti = proof.jti;
  }

  const outcome = database.place(judged, captcha, jti);
  if (outcome === 'SPENT') return challenge('SPENT');
  const order = database.find(id);
  if (outcome === 'PLACED' && order) shop.placed(order);
  if (order?.orderId) return { __typename: 'OrderPlaced', order };
  // It has been judged since. That happens once, because a judgement stays.
  return buy(shop, started, input);
}

function checkInput({ checkoutId, deviceToken }: PlaceOrderInput): void {
  if (!/^[\w-]{1,64}$/.test(checkoutId))
    throw failure('BAD_USER_INPUT', 'checkoutId: expected 1 to 64 letters, digits, _ or -.');
  if (deviceToken.length > MAX_DEVICE_TOKEN_LENGTH) {
    throw failure('BAD_USER_INPUT', `deviceToken: expected at most ${MAX_DEVICE_TOKEN_LENGTH} characters.`);
  }
}

/** Nobody knows whether the proof is one, so nothing is ordered; and the reason is none of the customer's business. */
function throwUnavailable(): never {
  throw new GraphQLError('The captcha cannot be checked at the moment, so nothing was ordered.', {
    extensions: { code: 'ATTESTATION_UNAVAILABLE', retryable: true },
  });
}
