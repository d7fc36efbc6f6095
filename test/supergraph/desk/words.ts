import { MAX_UNVERIFIED_CENTS } from '../orders/goods.ts';
import { make } from '../shop/dom.ts';
import { inCurrency } from '../shop/outcome.ts';
import type * as Graph from './generated/graphql.ts';

/** What the desk calls things. */

const DECISIONS: Readonly<Record<Graph.CheckoutDecision, string>> = {
  ALLOW: 'Allow',
  CHALLENGE: 'Challenge',
  DENY: 'Deny',
  NOT_JUDGED: 'Not judged',
};

const LIMIT = inCurrency(MAX_UNVERIFIED_CENTS);

/** Why there is no judgement: in a word, and in a sentence. */
const NOT_JUDGED: Readonly<Record<Graph.NotJudgedReason, readonly [string, string]>> = {
  TOKEN_REJECTED: ['forged token', 'The fingerprint service never issued this token, so it is probably forged.'],
  OUTAGE: ['outage', 'There was no answer about the device. This is on our side, and says nothing about the customer.'],
};

/** The decision as text and colour, with the reason if there is none. */
export function decisionView({ decision, notJudged }: Graph.SummaryFragment): HTMLElement {
  const reason = notJudged ? `: ${NOT_JUDGED[notJudged][0]}` : '';
  return make('span', `decision ${decision}`, DECISIONS[decision] + reason);
}

export function reasonOf({ notJudged }: Graph.SummaryFragment): string {
  const reason = notJudged ? NOT_JUDGED[notJudged][1] : 'Why it was not judged is not known.';
  return `${reason} Without a judgement the shop asks for a captcha, and refuses items above ${LIMIT}.`;
}

export const OUTCOMES: Readonly<Record<Graph.CheckoutStatus, string>> = {
  PLACED: 'Placed',
  CHALLENGED: 'Challenged',
  REFUSED: 'Refused',
};

export const REFUSALS: Readonly<Record<Graph.OrderRefusalCode, string>> = {
  UNKNOWN_ITEM: 'the shop has no such item',
  UNVERIFIED: `the device or the captcha could not be verified, and the item is above ${LIMIT}`,
  UNDER_REVIEW: 'the decision is Deny; no captcha changes that',
};

const CAPTCHAS: Readonly<Record<Graph.CaptchaAssurance, string>> = {
  NOT_SOLVED: 'asked, not solved',
  VERIFIED: 'verified',
  UNVERIFIED: 'unverified',
};
export const captchaOf = ({ captcha }: Graph.SummaryFragment): string => (captcha ? CAPTCHAS[captcha] : 'not asked');
export const customerOf = ({ customer }: Graph.SummaryFragment): string => customer?.name ?? 'Unknown customer';

const CLOCK = { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const SHORT = new Intl.DateTimeFormat('en-GB', CLOCK);
const LONG = new Intl.DateTimeFormat('en-GB', { ...CLOCK, year: 'numeric', timeZoneName: 'longOffset' });

/** A moment where the analyst is; `long` has the year and the offset from GMT. */
export function timeView(text: string, form: 'short' | 'long'): HTMLElement {
  const moment = new Date(text);
  const element = make('time', '', form === 'short' ? SHORT.format(moment).replace(',', '') : LONG.format(moment));
  element.dateTime = text;
  return element;
}

/** Joins what is known. */
export function known(...parts: readonly (string | null | undefined)[]): string {
  return parts.filter(Boolean).join(' ') || 'not known';
}
