import type { Answer } from './answer.ts';
import type { Checkout } from './checkout.ts';
import { make } from './dom.ts';
import { failureView } from './failure.ts';
import type { CaptchaFailureCategory, ChallengeReason, OrderRefusalCode } from './generated/graphql.ts';

/** Shows what became of an order, and of the captcha if there was one. */
export function orderAnswer({ verified, placed }: Checkout): Answer {
  const steps = [...(verified ? [captchaStep(verified)] : []), ...(placed ? [orderStep(placed)] : [])];
  return { summary: summaryOf(placed), details: [make('ol', 'steps', ...steps)] };
}

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

function summaryOf(placed: Checkout['placed']): string {
  if (!placed) return 'No order was placed.';
  switch (placed.data?.placeOrder?.__typename) {
    case 'OrderPlaced':
      return 'The order is placed.';
    case 'OrderRefused':
      return 'The order is refused.';
    case 'ChallengeRequired':
      return 'No order was placed.';
    default:
      // Without an answer nobody knows whether the order that was sent arrived.
      return 'The order is not confirmed.';
  }
}

const CATEGORIES: Readonly<Record<CaptchaFailureCategory, string>> = {
  PASS_TOKEN_EXPIRED: 'It was solved too long ago. Try again with a new one.',
  LOT_NUMBER_MISMATCH: 'The values are not those of one challenge. Try again with a new one.',
  ILLEGAL_SIGN_TOKEN: 'The key that is configured for this captcha is wrong. Tell the platform team.',
  OTHER: 'Try again with a new one.',
};

function captchaStep({ data, error }: NonNullable<Checkout['verified']>): HTMLElement {
  const verdict = data?.validateCaptcha;
  switch (verdict?.__typename) {
    case 'CaptchaPassed': {
      const { usedType, scene } = verdict.details;
      const facts = make('p', '', `Kind: ${usedType ?? 'not known'}, scene: ${scene ?? 'not known'}.`);
      return step('Captcha: passed', proof(verdict.attestation, 'verified'), facts);
    }
    case 'CaptchaFailed':
      return step(
        `Captcha: failed, ${verdict.category}`,
        proof(verdict.attestation, 'verified'),
        make('p', '', CATEGORIES[verdict.category]),
      );
    case 'CaptchaIndeterminate':
      return step(
        `Captcha: no verdict, ${verdict.cause}`,
        proof(verdict.attestation, 'unverified'),
        make('p', '', verdict.message),
      );
    default:
      return step('Captcha: could not be asked about', proof(null, 'verified'), failureView(error));
  }
}

const REASONS: Readonly<Record<ChallengeReason, string>> = {
  MISSING: 'It needs a captcha.',
  INVALID: 'The proof is not one for this order. Try again with a new captcha.',
  EXPIRED: 'The proof is too old. Try again with a new captcha.',
  SPENT: 'The proof was used for another order. Try again with a new captcha.',
};

const REFUSALS: Readonly<Record<OrderRefusalCode, string>> = {
  UNKNOWN_ITEM: 'There is no such item.',
  SOLD_OUT: 'The last one is gone. Another item needs no further captcha for now.',
  UNVERIFIED: 'Captchas cannot be verified at the moment, and this item costs too much to go without. Try again later.',
  UNDER_REVIEW: "We'll look into it.",
};

function orderStep({ data, error }: NonNullable<Checkout['placed']>): HTMLElement {
  const result = data?.placeOrder;
  switch (result?.__typename) {
    case 'OrderPlaced': {
      const { id, item, priceCents, status, customer } = result.order;
      const price = (priceCents / 100).toFixed(2);
      return step(`Order: ${status}`, make('p', '', `${id}: ${item} at ${price}, for ${customer.name}.`));
    }
    case 'ChallengeRequired':
      return step('Order: not placed', make('p', '', REASONS[result.reason]));
    case 'OrderRefused':
      return step(`Order: refused, ${result.code}`, make('p', '', REFUSALS[result.code]));
    default:
      return step(
        'Order: not confirmed',
        failureView(error),
        make('p', '', 'You can try again: the same checkout is never ordered twice.'),
      );
  }
}

function step(title: string, ...content: readonly Node[]): HTMLElement {
  return make('li', '', make('h3', '', title), ...content);
}

/** What the page has for the shop: a proof of this kind, or none. */
function proof(attestation: string | null, kind: 'verified' | 'unverified'): HTMLElement {
  return make(
    'p',
    '',
    make('span', attestation ? 'badge go' : 'badge stop', attestation ? `${kind} proof` : 'no proof'),
  );
}
