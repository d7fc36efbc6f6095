import { find } from './dom.ts';
import type { ValidateCaptchaInput } from './generated/graphql.ts';

/**
 * Stands in for the captcha widget, which in production is the captcha service's own script: it shows a challenge to a
 * person and hands these values to the page. Here a person presses a button.
 *
 * @throws CaptchaCancelled if the person does not want to solve one
 * @throws if no challenge comes back
 */
export async function solveChallenge(): Promise<ValidateCaptchaInput> {
  const dialog = find('captcha', HTMLDialogElement);
  dialog.returnValue = '';
  // A dialog gives the focus back to the button that was pressed before.
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  if (dialog.returnValue === '') throw new CaptchaCancelled();
  return solvedChallenge();
}

/** The person has closed the captcha. */
export class CaptchaCancelled extends Error {}

/** The sandbox issues a challenge that is solved already. It lets no other origin ask, so the page's own server passes this on. */
async function solvedChallenge(): Promise<ValidateCaptchaInput> {
  const response = await fetch('/sandbox/challenges', { method: 'POST' });
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
