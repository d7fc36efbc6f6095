import { find } from './dom.ts';
import type { ValidateCaptchaInput } from './generated/graphql.ts';

/** How long a person waits for the widget, in ms. */
const LOADING_TIMEOUT_MS = 5_000;

/**
 * Stands in for the captcha widget, which in production is the captcha service's own script: it shows a challenge to a
 * person and hands these values to the page. Here a person presses a button.
 *
 * In an outage of the captcha service its script does not load either. Then the page sends values that say so: the service
 * refuses them while it is well, and in an outage that the graph has confirmed the request may proceed.
 *
 * @param checkoutId makes these values those of one checkout: each has a proof of its own, and a retry has the same
 * @param onUnavailable called if the widget does not load
 * @throws CaptchaCancelled if the person does not want to solve one
 */
export async function solveChallenge(checkoutId: string, onUnavailable: () => void): Promise<ValidateCaptchaInput> {
  const challenge = await loadChallenge().catch(() => undefined);
  if (!challenge) {
    onUnavailable();
    const lotNumber = `unavailable-${checkoutId}`;
    return { lotNumber, captchaOutput: 'unavailable', passToken: 'unavailable', genTime: '0' };
  }
  const dialog = find('captcha', HTMLDialogElement);
  dialog.returnValue = '';
  // A dialog gives the focus back to the button that was pressed before.
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  if (dialog.returnValue === '') throw new CaptchaCancelled();
  return challenge;
}

/** The person has closed the captcha. */
export class CaptchaCancelled extends Error {}

/** The sandbox issues a challenge that is solved already. The page's own server passes this on. */
async function loadChallenge(): Promise<ValidateCaptchaInput> {
  const signal = AbortSignal.timeout(LOADING_TIMEOUT_MS);
  const response = await fetch('/sandbox/challenges', { method: 'POST', signal });
  if (!response.ok) throw new Error(`The stand-in for the captcha widget answered ${response.status}.`);
  const { captcha_id, lot_number, captcha_output, pass_token, gen_time } = await response.json();
  return {
    captchaId: captcha_id,
    lotNumber: lot_number,
    captchaOutput: captcha_output,
    passToken: pass_token,
    genTime: gen_time,
  };
}
