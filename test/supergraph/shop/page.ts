import { CaptchaCancelled, solveChallenge } from './challenge.ts';
import { checkOut } from './checkout.ts';
import { createClient } from './client.ts';
import { DEVICES, makeToken, newId } from './device.ts';
import { find, make } from './dom.ts';
import { ASKING, BROKEN, CANCELLED, inCurrency, NO_WIDGET, type Outcome, outcomeOf, unspentProof } from './outcome.ts';

/** The shop: what is chosen, and what a press on the button comes to. */

const client = createClient(document.querySelector<HTMLMetaElement>('meta[name=gateway]')?.content ?? '');
const form = find('order', HTMLFormElement);
const button = find('place', HTMLButtonElement);
const device = find('device', HTMLSelectElement);
const outcome = find('outcome', HTMLElement);
const placed = find('placed', HTMLElement);

for (const price of form.querySelectorAll('data')) price.textContent = inCurrency(Number(price.value));
device.append(...DEVICES.map(([name, token]) => new Option(name, token)));

/** A purchase keeps its number until it is placed or changed, so that a retry never orders or judges twice. */
let purchase = startPurchase();
/** The proof outlives an attempt that failed. The shop says when it needs another one. */
let attestation: string | null | undefined;

function startPurchase() {
  const chosen = form.querySelector<HTMLInputElement>('input[name=item]:checked');
  const item = chosen?.value ?? '';
  const price = chosen?.closest('.card')?.querySelector('data')?.textContent ?? '';
  find('chosen', HTMLElement).replaceChildren(item, ' ', make('b', '', price));
  outcome.replaceChildren();
  button.textContent = 'Place order';
  return { checkoutId: newId(), item };
}

form.addEventListener('change', () => {
  purchase = startPurchase();
});

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  // A disabled button would lose the focus, so it stays and sends nothing.
  if (form.ariaBusy === 'true') return;
  setBusy(true);
  show(ASKING);
  show(await order().catch((fault) => (fault instanceof CaptchaCancelled ? CANCELLED : BROKEN)));
  setBusy(false);
});

find('again', HTMLButtonElement).addEventListener('click', () => {
  purchase = startPurchase();
  placed.hidden = true;
  form.hidden = false;
  form.querySelector<HTMLInputElement>('input:checked')?.focus();
});

async function order(): Promise<Outcome> {
  const solveCaptcha = () => solveChallenge(purchase.checkoutId, () => show(NO_WIDGET));
  // A token of its own: one that was asked about, in a try without an answer as well, would look reused.
  const wish = { ...purchase, deviceToken: makeToken(device.value), attestation };
  const checkout = await checkOut(client, wish, solveCaptcha);
  attestation = unspentProof(checkout);
  return outcomeOf(checkout);
}

/** While an order is under way, nothing about it can be changed. */
function setBusy(busy: boolean): void {
  form.ariaBusy = button.ariaDisabled = String(busy);
  for (const choices of form.querySelectorAll('fieldset')) choices.disabled = busy;
}

/** What is ordered cannot be ordered once more: with the choice, its button goes away. */
function show({ kind, title, text }: Outcome): void {
  if (kind === 'placed') {
    find('bought', HTMLElement).textContent = text;
    form.hidden = true;
    placed.hidden = false;
    const thanks = find('thanks', HTMLElement);
    thanks.textContent = title;
    thanks.focus();
    return;
  }
  button.textContent = { asking: 'One moment …', refused: 'Place order', failed: 'Try again' }[kind];
  outcome.replaceChildren(make('b', '', title), ' ', text);
}
