import type { CheckoutStatus, OrderRefusalCode, RiskAction, SummaryFragment } from './generated/graphql.ts';

/** What the desk calls things. */

/** What was decided about a checkout, or why nobody can say. */
export type Verdict = RiskAction | 'NOT_JUDGED' | 'UNREADABLE' | 'UNAVAILABLE';

export const VERDICTS: Readonly<Record<Verdict, { readonly label: string; readonly sentence: string }>> = {
  ALLOW: { label: 'Allow', sentence: 'The policy says to let this device through.' },
  CHALLENGE: { label: 'Challenge', sentence: 'The policy says to ask for a captcha.' },
  DENY: { label: 'Deny', sentence: 'The policy says to refuse, and not to tell the customer why.' },
  NOT_JUDGED: {
    label: 'Not judged',
    sentence:
      'The device could not be judged: its token was rejected, or no answer came. So a captcha was asked for. Or nothing was judged, because the item was sold out.',
  },
  UNREADABLE: { label: 'Unreadable', sentence: 'The record of the judgement cannot be opened.' },
  UNAVAILABLE: { label: 'No answer', sentence: 'The record of the judgement could not be fetched.' },
};

export const STATUSES: Readonly<Record<CheckoutStatus, string>> = {
  PLACED: 'Placed',
  CHALLENGED: 'Challenged',
  REFUSED: 'Refused',
};

const REFUSALS: Readonly<Record<OrderRefusalCode, string>> = {
  UNKNOWN_ITEM: 'the shop has no such item',
  SOLD_OUT: 'the item was sold out',
  UNVERIFIED: 'the captcha could not be verified, and the item costs too much to go without',
  UNDER_REVIEW: 'the decision about the device',
};

/** What became of a checkout, in one sentence. */
export function outcomeOf({ status, refusal, order }: SummaryFragment): string {
  if (status === 'PLACED') return `Placed as ${order?.id ?? 'an order'}.`;
  if (status === 'CHALLENGED') return 'Asked for a captcha, and not placed since.';
  return `Refused: ${refusal ? REFUSALS[refusal] : 'no reason is known'}.`;
}

export function customerOf({ customer }: SummaryFragment): string {
  return customer?.name ?? 'Unknown customer';
}

const SHORT = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit' });
const LONG = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'longOffset',
});

/** Day and time where the analyst is. */
export const shortTime = (text: string): string => SHORT.format(new Date(text));
/** Day and time where the analyst is, with the offset from GMT. */
export const longTime = (text: string): string => LONG.format(new Date(text));

/** Joins what is known. */
export function words(...parts: readonly (string | null | undefined)[]): string {
  return parts.filter(Boolean).join(' ') || 'not known';
}
