import { CombinedGraphQLErrors, type ErrorLike } from '@apollo/client';
import type { Checkout } from './checkout.ts';
import type { CaptchaFailureCategory, OrderRefusalCode } from './generated/graphql.ts';
import { inCurrency } from './price.ts';

/** What became of a checkout, in words for the customer. They say no more than the graph's public answer. */
export interface Outcome {
  /** How it is shown. */
  readonly kind: 'asking' | 'placed' | 'refused' | 'failed';
  readonly title: string;
  readonly text: string;
}

export const ASKING: Outcome = { kind: 'asking', title: 'Placing your order …', text: 'This takes a moment.' };

export const CANCELLED: Outcome = {
  kind: 'refused',
  title: 'Nothing was ordered',
  text: 'You closed the check. Your choice is still here, so you can try again.',
};

/** The page itself could not go on. Whether the order arrived before, nobody knows. */
export const BROKEN = failed(
  'Your order is not confirmed',
  'This page could not go on. Please try again: the same order is never placed twice.',
);

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
      const { id, item, priceCents, customer } = result.order;
      const text = `${item} for ${inCurrency(priceCents)}. Your order number is ${id}.`;
      return { kind: 'placed', title: `Thank you, ${customer.name}`, text };
    }
    case 'OrderRefused':
      return { kind: 'refused', ...REFUSALS[result.code] };
    case 'ChallengeRequired':
      // With the proof that was just made: it is spent, too old or not the one.
      return failed('Nothing was ordered', 'The check that you are a person no longer counts. Please try again.');
    default:
      return placed ? unconfirmed(placed.error) : captchaFailure(verified);
  }
}

const REFUSALS: Readonly<Record<OrderRefusalCode, Pick<Outcome, 'title' | 'text'>>> = {
  UNKNOWN_ITEM: { title: 'We no longer have this', text: 'Please choose something else.' },
  SOLD_OUT: { title: 'Sold out', text: 'The last one is gone. Please choose something else.' },
  UNVERIFIED: {
    title: 'Not at the moment',
    text: 'We cannot check that you are a person at the moment, and need to for this item. Please try again later, or choose something for less.',
  },
  UNDER_REVIEW: { title: 'We cannot take this order now', text: "We'll look into it." },
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
  switch (verdict?.__typename) {
    case 'CaptchaFailed':
      return failed('Nothing was ordered', CAPTCHA_FAILURES[verdict.category]);
    case 'CaptchaIndeterminate':
      return failed('Nothing was ordered', verdict.cause === 'CLIENT' ? TRY_AGAIN : OUR_SIDE);
    default:
      return failed('Nothing was ordered', isRetryable(verified?.error) === false ? TRY_AGAIN : OUR_SIDE);
  }
}

/** Without an answer nobody knows whether the order that was sent arrived. */
function unconfirmed(error: ErrorLike | undefined): Outcome {
  const advice = isRetryable(error) === false ? 'Please ask us' : 'Please try again in a moment';
  return failed(
    'Your order is not confirmed',
    `Something on our side is not working. ${advice}: the same order is never placed twice.`,
  );
}

function failed(title: string, text: string): Outcome {
  return { kind: 'failed', title, text };
}

/** What the graph says about trying the same again; undefined if nothing that it wrote arrived. */
function isRetryable(error: ErrorLike | undefined): unknown {
  return CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions?.['retryable'] : undefined;
}
