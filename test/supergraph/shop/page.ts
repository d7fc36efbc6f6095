import { onSubmit } from './answer.ts';
import { forcedChallenge, solveChallenge } from './challenge.ts';
import { checkOut } from './checkout.ts';
import { createClient } from './client.ts';
import { find } from './dom.ts';
import { isPlaced, orderAnswer, unspentProof } from './order.ts';

/** The page: its forms, and what each of them asks. */

const client = createClient(document.querySelector<HTMLMetaElement>('meta[name=gateway]')?.content ?? '');
const token = find('token', HTMLInputElement);

const button = find('place', HTMLButtonElement);
/**
 * A purchase keeps its number until it is placed, or another item or device is chosen, so that a retry never orders twice and
 * the shop judges the device once.
 */
let checkoutId = crypto.randomUUID();
/** The proof outlives an attempt that failed. The shop says when it needs another one. */
let attestation: string | null | undefined;

find('item', HTMLSelectElement).addEventListener('change', startPurchase);
token.addEventListener('input', startPurchase);

function startPurchase(): void {
  checkoutId = crypto.randomUUID();
  button.textContent = 'Place order';
}

onSubmit('order', async (fields, report) => {
  const outcome = String(fields.get('outcome'));
  const order = { checkoutId, item: String(fields.get('item')), deviceToken: token.value, attestation };
  button.textContent = 'Try again';
  const checkout = await checkOut(client, order, () => {
    report('The shop asks for a captcha …');
    return outcome === 'solved' ? solveChallenge() : forcedChallenge(outcome);
  });
  attestation = unspentProof(checkout);
  if (isPlaced(checkout)) startPurchase();
  return orderAnswer(checkout);
});
