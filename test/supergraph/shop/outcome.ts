import type { Checkout } from './checkout.ts';
import type { OrderRefusalCode } from './generated/graphql.ts';

/** What became of a checkout, in words for the customer. They say no more than the graph's public answer. */
export interface Outcome {
  /** How it is shown: `failed` can be tried again as it is. */
  readonly kind: 'asking' | 'placed' | 'refused' | 'failed';
  readonly title: string;
  readonly text: string;
}

export const ASKING: Outcome = { kind: 'asking', title: 'Placing your order …', text: 'This takes a moment.' };
export const NO_WIDGET: Outcome = {
  kind: 'asking',
  title: 'The check that you are a person does not load.',
  text: 'We try to place your order without it …',
};
export const CANCELLED = nothingOrdered('You closed the check. Your choice is still here, so you can try again.');
/** The page itself could not go on. Whether the order arrived before, nobody knows. */
export const BROKEN = unconfirmed('This page could not go on. Please try again');

/** The proof that another attempt can use: none if it is spent, or if the shop wants a better one. */
export function unspentProof(checkout: Checkout): Checkout['attestation'] {
  const result = checkout.placed?.data?.placeOrder;
  const isTooWeak = result?.__typename === 'OrderRefused' && result.code === 'UNVERIFIED';
  return result?.__typename === 'OrderPlaced' || isTooWeak ? undefined : checkout.attestation;
}

export function outcomeOf({ verified, placed }: Checkout): Outcome {
  const result = placed?.data?.placeOrder;
  switch (result?.__typename) {
    case 'OrderPlaced': {
      const { item, priceCents, customer } = result.order;
      const text = `We have your order: ${item} for ${inCurrency(priceCents)}.`;
      return { kind: 'placed', title: customer ? `Thank you, ${customer.name}` : 'Thank you', text };
    }
    case 'OrderRefused':
      return { kind: 'refused', ...REFUSALS[result.code] };
    case 'ChallengeRequired':
      // With the proof that was just made: it is spent, too old or not the one.
      return nothingOrdered('The check that you are a person no longer counts. Please try again.');
    default:
      if (!placed) return nothingOrdered(captchaFailure(verified));
      return unconfirmed('Something on our side is not working. Please try again in a moment');
  }
}

const REFUSALS: Readonly<Record<OrderRefusalCode, Pick<Outcome, 'title' | 'text'>>> = {
  UNKNOWN_ITEM: { title: 'We no longer have this.', text: 'Please choose something else.' },
  UNVERIFIED: {
    title: 'Not at the moment.',
    text: 'For this item we need to check more than we can. Please try again later, or choose something for less.',
  },
  UNDER_REVIEW: { title: 'We cannot take this order now.', text: "We'll look into it." },
};

/** Why there is no proof, so that the order was not sent again. */
function captchaFailure(verified: Checkout['verified']): string {
  const verdict = verified?.data?.validateCaptcha;
  const category = verdict?.__typename === 'CaptchaFailed' ? verdict.category : undefined;
  if (category === 'PASS_TOKEN_EXPIRED') return 'The check took too long. Please try again.';
  const isOurs =
    category === 'ILLEGAL_SIGN_TOKEN' ||
    (verdict?.__typename === 'CaptchaIndeterminate' ? verdict.cause !== 'CLIENT' : !verdict);
  return isOurs
    ? 'We cannot check at the moment that you are a person. That is our fault. Please try again in a minute.'
    : 'The check did not work. Please try again.';
}

function nothingOrdered(text: string): Outcome {
  return { kind: 'failed', title: 'Nothing was ordered.', text };
}

/** Without an answer nobody knows whether the order that was sent arrived. */
function unconfirmed(advice: string): Outcome {
  return {
    kind: 'failed',
    title: 'Your order is not confirmed.',
    text: `${advice}: the same order is never placed twice.`,
  };
}

const FORMAT = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'EUR' });

/** A price in cents, as it is written where the customer is. */
export function inCurrency(cents: number): string {
  return FORMAT.format(cents / 100);
}
