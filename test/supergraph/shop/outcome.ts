import { CombinedGraphQLErrors, type ErrorLike } from '@apollo/client';
import type { Checkout } from './checkout.ts';
import type { CaptchaFailureCategory, OrderRefusalCode } from './generated/graphql.ts';
import { inCurrency } from './price.ts';

/** What became of a checkout, in words for the customer. They say no more than the graph's public answer. */
export interface Outcome {
  /** How it is shown: `failed` can be tried again as it is. */
  readonly kind: 'asking' | 'placed' | 'refused' | 'failed';
  readonly title: string;
  readonly text: string;
  /** The order's number for people; only if it was placed. */
  readonly number?: string;
}

export const ASKING: Outcome = { kind: 'asking', title: 'Placing your order …', text: 'This takes a moment.' };
export const CANCELLED: Outcome = {
  kind: 'refused',
  title: 'Nothing was ordered.',
  text: 'You closed the check. Your choice is still here, so you can try again.',
};
const UNCONFIRMED = 'Your order is not confirmed.';
const NEVER_TWICE = 'the same order is never placed twice.';
/** The page itself could not go on. Whether the order arrived before, nobody knows. */
export const BROKEN = failed(UNCONFIRMED, `This page could not go on. Please try again: ${NEVER_TWICE}`);

/** Is there an order now? */
export function isPlaced({ placed }: Checkout): boolean {
  return placed?.data?.placeOrder?.__typename === 'OrderPlaced';
}

/** The proof that another attempt can use: none if it is spent, or if the shop wants a better one. */
export function unspentProof(checkout: Checkout): Checkout['attestation'] {
  const result = checkout.placed?.data?.placeOrder;
  const isTooWeak = result?.__typename === 'OrderRefused' && result.code === 'UNVERIFIED';
  return isPlaced(checkout) || isTooWeak ? undefined : checkout.attestation;
}

export function outcomeOf({ verified, placed }: Checkout): Outcome {
  const result = placed?.data?.placeOrder;
  switch (result?.__typename) {
    case 'OrderPlaced': {
      const { number, item, priceCents, customer } = result.order;
      const text = `We have your order: ${item} for ${inCurrency(priceCents)}.`;
      return { kind: 'placed', title: `Thank you, ${customer.name}`, text, number };
    }
    case 'OrderRefused':
      return { kind: 'refused', ...REFUSALS[result.code] };
    case 'ChallengeRequired':
      // With the proof that was just made: it is spent, too old or not the one.
      return nothingOrdered('The check that you are a person no longer counts. Please try again.');
    default:
      return placed ? unconfirmed(placed.error) : captchaFailure(verified);
  }
}

const REFUSALS: Readonly<Record<OrderRefusalCode, Pick<Outcome, 'title' | 'text'>>> = {
  UNKNOWN_ITEM: { title: 'We no longer have this.', text: 'Please choose something else.' },
  SOLD_OUT: { title: 'Sold out.', text: 'The last one is gone. Please choose something else.' },
  UNVERIFIED: {
    title: 'Not at the moment.',
    text: 'For this item we need to check that you are a person, and cannot. Please try again later, or choose something for less.',
  },
  UNDER_REVIEW: { title: 'We cannot take this order now.', text: "We'll look into it." },
};

const EXPIRED = 'The check took too long. Please try again.';
const TRY_AGAIN = 'The check did not work. Please try again.';
const OUR_SIDE = 'We cannot check at the moment that you are a person. That is our fault. Please try again later.';
const CAPTCHA_FAILURES: Readonly<Record<CaptchaFailureCategory, string>> = {
  PASS_TOKEN_EXPIRED: EXPIRED,
  LOT_NUMBER_MISMATCH: TRY_AGAIN,
  ILLEGAL_SIGN_TOKEN: OUR_SIDE,
  OTHER: TRY_AGAIN,
};

/** There is no proof, so the order was not sent again. */
function captchaFailure(verified: Checkout['verified']): Outcome {
  const verdict = verified?.data?.validateCaptcha;
  if (verdict?.__typename === 'CaptchaFailed') return nothingOrdered(CAPTCHA_FAILURES[verdict.category]);
  const isOfThisTry =
    verdict?.__typename === 'CaptchaIndeterminate'
      ? verdict.cause === 'CLIENT'
      : isRetryable(verified?.error) === false;
  return nothingOrdered(isOfThisTry ? TRY_AGAIN : OUR_SIDE);
}

/** Without an answer nobody knows whether the order that was sent arrived. */
function unconfirmed(error: ErrorLike | undefined): Outcome {
  const advice = isRetryable(error) === false ? 'Please ask us' : 'Please try again in a moment';
  return failed(UNCONFIRMED, `Something on our side is not working. ${advice}: ${NEVER_TWICE}`);
}

function nothingOrdered(text: string): Outcome {
  return failed('Nothing was ordered.', text);
}

function failed(title: string, text: string): Outcome {
  return { kind: 'failed', title, text };
}

/** What the graph says about trying the same again; undefined if nothing that it wrote arrived. */
function isRetryable(error: ErrorLike | undefined): unknown {
  return CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions?.['retryable'] : undefined;
}
