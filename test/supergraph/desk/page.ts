import { createClient } from '../shop/client.ts';
import { find, make } from '../shop/dom.ts';
import { detailView } from './detail.ts';
import type { CheckoutsQuery } from './generated/graphql.ts';
import { CHECKOUT, CHECKOUTS } from './operations.ts';
import { endSession, type Session, signIn, storedSession } from './session.ts';
import { codeAt, codeOf, troubleView } from './trouble.ts';
import { captchaOf, customerOf, decisionView, OUTCOMES, timeView } from './words.ts';

/** The page: who is signed in, the table of checkouts, and the one that is open, whose id is the fragment of the address. */

const client = createClient(document.querySelector<HTMLMetaElement>('meta[name=gateway]')?.content ?? '');
const desk = find('desk', HTMLElement);
const rows = find('rows', HTMLElement);
const dialog = find('detail', HTMLDialogElement);
let session = storedSession();
/** What every question is sent with. Errors are part of its answer, so that nothing is thrown. */
function options({ token }: Session) {
  return { context: { headers: { authorization: `Bearer ${token}` } }, errorPolicy: 'all' } as const;
}

async function loadTable(): Promise<void> {
  if (!session) return;
  const mine = session;
  const count = find('count', HTMLElement);
  count.textContent = 'Loading …';
  const { data, error } = await client.query({ query: CHECKOUTS, ...options(session) });
  // Whoever has signed out meanwhile sees no answer.
  if (mine !== session) return;
  const code = codeOf(error);
  if (code === 'UNAUTHENTICATED') return showSignIn();
  const checkouts = data?.checkouts;
  count.textContent = checkouts ? `${checkouts.length} newest` : '';
  find('trouble', HTMLElement).replaceChildren(...(checkouts ? [] : [troubleView(code)]));
  rows.replaceChildren(
    ...(checkouts ?? []).map((row, at) => rowView(row, codeAt(error, 'checkouts', at, 'judgement'))),
  );
}

/** @param code why its judgement could not be opened, if it could not: that spoils this row alone */
function rowView(row: NonNullable<CheckoutsQuery['checkouts']>[number], code: string | undefined): HTMLElement {
  const rule = row.judgement?.decision?.rule;
  const link = make('a', '', timeView(row.startedAt, 'short'));
  link.href = `#${row.id}`;
  const cells = [
    link,
    row.item,
    customerOf(row),
    OUTCOMES[row.status],
    decisionView(row),
    rule ? make('code', '', rule) : quiet(code === 'JUDGEMENT_UNREADABLE' ? 'unreadable' : code ? 'no answer' : 'none'),
    row.captcha ? captchaOf(row) : quiet(captchaOf(row)),
  ];
  return make('tr', '', ...cells.map((cell) => make('td', '', cell)));
}

const quiet = (text: string): HTMLElement => make('span', 'none', text);

async function openDetail(id: string): Promise<void> {
  if (!session) return;
  const title = find('detail-title', HTMLElement);
  const body = find('detail-body', HTMLElement);
  title.textContent = 'Loading …';
  body.replaceChildren();
  if (!dialog.open) dialog.showModal();
  const { data, error } = await client.query({ query: CHECKOUT, variables: { id }, ...options(session) });
  if (location.hash !== `#${id}`) return;
  if (codeOf(error) === 'UNAUTHENTICATED') return showSignIn();
  const checkout = data?.checkout;
  title.textContent = checkout ? `${checkout.item} for ${customerOf(checkout)}` : 'No checkout';
  if (checkout) body.replaceChildren(...detailView(checkout, codeAt(error, 'checkout', 'judgement')));
  else
    body.replaceChildren(
      error ? troubleView(codeOf(error)) : 'There is none with this id. The link may be incomplete.',
    );
}

function showAddress(): void {
  if (session && location.hash.length > 1) void openDetail(location.hash.slice(1));
  else dialog.close();
}

function showSession(opened: Session): void {
  session = opened;
  find('person', HTMLElement).textContent = opened.name;
  find('sign-in', HTMLElement).hidden = true;
  desk.hidden = false;
  showAddress();
  void loadTable();
}

function showSignIn(): void {
  endSession();
  session = undefined;
  dialog.close();
  rows.replaceChildren();
  desk.hidden = true;
  find('sign-in', HTMLElement).hidden = false;
  find('sign-in-title', HTMLElement).focus();
}

for (const choice of document.querySelectorAll<HTMLButtonElement>('[data-person]')) {
  choice.addEventListener('click', async () => {
    const opened = await signIn(choice.dataset['person'] ?? '', choice.textContent);
    find('sign-in-trouble', HTMLElement).textContent = opened ? '' : 'Nobody was signed in. Try again.';
    if (!opened) return;
    showSession(opened);
    // The button that had the focus is gone.
    find('title', HTMLElement).focus();
  });
}
find('refresh', HTMLElement).addEventListener('click', loadTable);
find('sign-out', HTMLElement).addEventListener('click', showSignIn);
find('close', HTMLElement).addEventListener('click', () => dialog.close());
// Neither the focus, which is back at the row by now, nor the place in the table changes with this.
dialog.addEventListener('close', () => dialog.open || history.replaceState(null, '', location.pathname));
window.addEventListener('hashchange', showAddress);

if (session) showSession(session);
else showSignIn();
