import { find, make } from '../shop/dom.ts';
import { button, heading } from './views.ts';

/**
 * The section with which an analyst asks about a device once more. It says what that costs, and asks for a confirmation first.
 *
 * @param ask makes the event, and shows what comes of it
 */
export function askAnewView(ask: () => Promise<void>): HTMLElement {
  const open = button('Ask anew …', '', () => dialog.showModal());
  const status = make('p', 'quiet');
  status.setAttribute('role', 'status');
  const confirm = button('Make a new event', 'primary', async () => {
    dialog.close();
    open.disabled = true;
    status.textContent = 'Asking the fingerprint service …';
    await ask();
    open.disabled = false;
    status.textContent = '';
  });
  const dialog = make(
    'dialog',
    'confirm',
    heading(3, 'Make a new event?'),
    make('p', '', COST),
    make('p', '', REUSED),
    make('p', '', 'The judgement of the checkout stays as it is, and so does the order.'),
    make(
      'div',
      'choices',
      confirm,
      button('Cancel', '', () => dialog.close()),
    ),
  );
  dialog.setAttribute('aria-label', 'Make a new event?');
  const title = heading(3, 'Ask anew');
  title.id = 'ask-anew-title';
  const section = make('section', 'ask-anew', title, make('p', '', `${FREE} ${COST} ${REUSED}`), open, status, dialog);
  section.setAttribute('aria-labelledby', title.id);
  return section;
}

const FREE = 'What was judged at the checkout can be looked at as often as you like.';
const COST = 'Asking anew makes a new event at the fingerprint service, which can be billed.';
const REUSED =
  'The token of the checkout was used before, so the new judgement may have the signal TOKEN_EXPIRED. That says nothing about the customer.';

/** Moves the focus to the newest judgement that was asked for. */
export function focusLatest(): void {
  const titles = find('detail', HTMLElement).querySelectorAll<HTMLElement>('.later h3');
  [...titles].at(-1)?.focus();
}
