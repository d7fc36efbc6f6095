import { CaptchaCancelled, solveChallenge } from './challenge.ts';
import { checkOut } from './checkout.ts';
import { createClient } from './client.ts';
import { DEVICE_NAMES, makeToken } from './device.ts';
import { find, make } from './dom.ts';
import { ASKING, BROKEN, CANCELLED, isPlaced, type Outcome, outcomeOf, unspentProof } from './outcome.ts';
import { inCurrency } from './price.ts';

/** The shop: what is chosen, and what a press on the button comes to. */

const client = createClient(document.querySelector<HTMLMetaElement>('meta[name=gateway]')?.content ?? '');
const form = find('order', HTMLFormElement);
const button = find('place', HTMLButtonElement);
const device = find('device', HTMLSelectElement);

for (const price of document.querySelectorAll<HTMLDataElement>('data.price')) {
  price.textContent = inCurrency(Number(price.value));
}
device.append(...DEVICE_NAMES.map((name) => make('option', '', name)));

/** A purchase keeps its number and its token until it is placed or changed, so that a retry never orders or judges twice. */
let purchase = startPurchase();
/** The proof outlives an attempt that failed. The shop says when it needs another one. */
let attestation: string | null | undefined;

function startPurchase() {
  const chosen = form.querySelector<HTMLInputElement>('input[name=item]:checked');
  const item = chosen?.value ?? '';
  const price = chosen?.closest('.card')?.querySelector('.price')?.textContent ?? '';
  find('chosen', HTMLElement).textContent = item;
  find('total', HTMLElement).textContent = price;
  return { checkoutId: crypto.randomUUID(), item, deviceToken: makeToken(device.value) };
}

form.addEventListener('change', () => {
  purchase = startPurchase();
  if (form.ariaBusy === 'true') return;
  button.textContent = 'Place order';
  find('outcome', HTMLElement).replaceChildren();
});

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  // A disabled button would lose the focus, so it stays and sends nothing.
  if (form.ariaBusy === 'true') return;
  form.ariaBusy = 'true';
  show(ASKING);
  show(await order().catch((fault) => (fault instanceof CaptchaCancelled ? CANCELLED : BROKEN)));
  form.ariaBusy = 'false';
});

async function order(): Promise<Outcome> {
  const sent = purchase;
  const checkout = await checkOut(client, { ...sent, attestation }, solveChallenge);
  attestation = unspentProof(checkout);
  if (isPlaced(checkout) && purchase === sent) purchase = startPurchase();
  return outcomeOf(checkout);
}

function show({ kind, title, text }: Outcome): void {
  const outcome = find('outcome', HTMLElement);
  button.textContent = kind === 'failed' ? 'Try again' : 'Place order';
  outcome.className = `outcome ${kind}`;
  outcome.replaceChildren(make('h3', '', title), make('p', '', text));
}
