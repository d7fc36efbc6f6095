import { createClient } from '../shop/client.ts';
import { find } from '../shop/dom.ts';
import { createApi } from './api.ts';
import { createDetail, type Detail } from './detail.ts';
import { createList, type List } from './list.ts';
import { hashOf, type Route, readRoute } from './route.ts';
import { endSession, type Session, signIn, storedSession } from './session.ts';
import { troubleView } from './views.ts';

/** The page: who is signed in, and what its address says to show. */

const client = createClient(document.querySelector<HTMLMetaElement>('meta[name=gateway]')?.content ?? '');
const signInView = find('sign-in', HTMLElement);
const deskView = find('desk', HTMLElement);
const account = find('account', HTMLElement);
const filter = find('filter', HTMLFieldSetElement);

/** What is on the screen; undefined while nobody is signed in. */
let desk: { readonly list: List; readonly detail: Detail } | undefined;
let shown: Route = {};

function openDesk({ name, token }: Session): void {
  find('person', HTMLElement).textContent = name;
  showOnly(deskView);
  const api = createApi(client, token);
  desk = { list: createList(api, closeDesk), detail: createDetail(api, closeDesk) };
  shown = readRoute(location.hash);
  showRoute(shown);
  void desk.list.load(shown);
  if (shown.checkout === undefined) desk.detail.close();
  else void desk.detail.open(shown, false);
}

function closeDesk(): void {
  endSession();
  desk?.detail.close();
  desk = undefined;
  find('rows', HTMLElement).replaceChildren();
  showOnly(signInView);
  find('sign-in-title', HTMLElement).focus();
}

function showOnly(view: HTMLElement): void {
  signInView.hidden = view !== signInView;
  deskView.hidden = view !== deskView;
  account.hidden = view !== deskView;
}

/** What depends on the address alone. Where there is no place for both, the open checkout hides the list. */
function showRoute({ decision, checkout }: Route): void {
  deskView.dataset['open'] = String(checkout !== undefined);
  for (const input of filter.querySelectorAll('input')) input.checked = input.value === (decision ?? '');
}

window.addEventListener('hashchange', () => {
  const before = shown;
  shown = readRoute(location.hash);
  if (!desk) return;
  showRoute(shown);
  if (shown.decision === before.decision) desk.list.mark(shown);
  else void desk.list.load(shown);
  if (shown.checkout === before.checkout) return;
  if (shown.checkout !== undefined) {
    void desk.detail.open(shown, true);
  } else {
    desk.detail.close();
    desk.list.focus(before.checkout);
  }
});

filter.addEventListener('change', () => {
  const chosen = filter.querySelector<HTMLInputElement>('input:checked')?.value;
  location.hash = hashOf({ ...readRoute(`#decision=${chosen}`), checkout: shown.checkout });
});

find('refresh', HTMLButtonElement).addEventListener('click', () => void desk?.list.load(shown));

find('detail', HTMLElement).addEventListener('keydown', (event) => {
  // The key closes a dialog before anything else.
  if (event.key !== 'Escape' || (event.target instanceof Element && event.target.closest('dialog'))) return;
  location.hash = hashOf({ decision: shown.decision });
});

find('skip', HTMLAnchorElement).addEventListener('click', (event) => {
  event.preventDefault();
  if (desk) desk.list.focus(shown.checkout);
  else find('sign-in-title', HTMLElement).focus();
});

find('sign-out', HTMLButtonElement).addEventListener('click', closeDesk);

for (const choice of signInView.querySelectorAll('button')) {
  choice.addEventListener('click', async () => {
    const trouble = find('sign-in-trouble', HTMLElement);
    trouble.replaceChildren();
    const session = await signIn(choice.dataset['person'] ?? '', choice.textContent);
    if (session) {
      openDesk(session);
      // The button that had the focus is gone.
      find('checkouts-title', HTMLElement).focus();
    } else trouble.replaceChildren(troubleView(SIGN_IN_FAILED));
  });
}

const SIGN_IN_FAILED = {
  code: 'SIGN_IN_FAILED',
  title: 'Nobody was signed in.',
  advice: 'The server of this page did not answer as it should. Try again; if it stays, tell the platform team.',
  retry: false,
};

const session = storedSession();
if (session) openDesk(session);
else showOnly(signInView);
