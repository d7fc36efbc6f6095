import { CombinedGraphQLErrors, type ErrorLike } from '@apollo/client';
import { createClient } from '../shop/client.ts';
import { find, make } from '../shop/dom.ts';
import type * as Graph from './generated/graphql.ts';
import { CheckoutsDocument } from './generated/graphql.ts';

/** The page: somebody signs in, and sees the newest checkouts as far as their scopes allow. */

const client = createClient(document.querySelector<HTMLMetaElement>('meta[name=gateway]')?.content ?? '');
const message = find('message', HTMLElement);

const OUTCOMES: Readonly<Record<Graph.CheckoutStatus, string>> = {
  PLACED: 'Placed',
  CHALLENGED: 'Challenged',
  REFUSED: 'Refused',
};
const DECISIONS: Readonly<Record<Graph.CheckoutDecision, string>> = {
  ALLOW: 'Allow',
  CHALLENGE: 'Challenge',
  DENY: 'Deny',
  NOT_JUDGED: 'Not judged',
};
const NOT_JUDGED: Readonly<Record<Graph.NotJudgedReason, string>> = {
  TOKEN_REJECTED: 'forged token',
  OUTAGE: 'outage',
};
const CAPTCHAS: Readonly<Record<Graph.CaptchaAssurance, string>> = {
  NOT_SOLVED: 'asked, not solved',
  VERIFIED: 'verified',
  UNVERIFIED: 'unverified',
};
const CLOCK = { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const TIME = new Intl.DateTimeFormat('en-GB', CLOCK);

function rowView(checkout: NonNullable<Graph.CheckoutsQuery['checkouts']>[number]): HTMLElement {
  const { startedAt, item, customer, status, decision, notJudged, judgement, captcha } = checkout;
  const cells = [
    TIME.format(new Date(startedAt)),
    item,
    customer?.name ?? 'unknown',
    OUTCOMES[status],
    make('span', decision, DECISIONS[decision] + (notJudged ? `: ${NOT_JUDGED[notJudged]}` : '')),
    // A record that cannot be opened leaves out its own row's judgement alone.
    judgement?.decision?.rule ?? (decision === 'NOT_JUDGED' ? 'none' : 'unreadable'),
    judgement?.signals?.map(({ name }) => name).join(', ') || 'none',
    captcha ? CAPTCHAS[captcha] : 'not asked',
  ];
  return make('tr', '', ...cells.map((cell) => make('td', '', cell)));
}

function sentenceOf(error: ErrorLike | undefined): string {
  const code = CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions?.['code'] : 'NO_ANSWER';
  if (code === 'FORBIDDEN') return 'Your account does not have the scope risk:read. Ask the risk team for it.';
  return `The checkouts could not be loaded. Try again, and tell the platform team the code ${code} if it stays.`;
}

async function signIn(person: string): Promise<void> {
  const response = await fetch(`/sign-in/${person}`, { method: 'POST' });
  find('sign-in', HTMLElement).hidden = true;
  find('desk', HTMLElement).hidden = false;
  // The button that had the focus is gone.
  find('title', HTMLElement).focus();
  message.textContent = 'Loading …';
  const headers = { authorization: `Bearer ${await response.text()}` };
  const { data, error } = await client.query({ query: CheckoutsDocument, context: { headers }, errorPolicy: 'all' });
  const checkouts = data?.checkouts;
  message.textContent = checkouts ? `${checkouts.length} newest` : sentenceOf(error);
  find('rows', HTMLElement).replaceChildren(...(checkouts ?? []).map(rowView));
}

for (const choice of document.querySelectorAll<HTMLButtonElement>('[data-person]'))
  choice.addEventListener('click', () => signIn(choice.dataset['person'] ?? ''));
