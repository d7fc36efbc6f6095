import type { ValidateCaptchaInput } from './generated/graphql.ts';

/**
 * Stands in for the captcha widget, which in production is the captcha service's own script: it shows a challenge to a
 * person and hands these values to the page. Here the sandbox issues a challenge that is solved already. It allows no other
 * origin to ask, so the page's own server passes the request on.
 *
 * @throws if no challenge comes back
 */
export async function solveChallenge(): Promise<ValidateCaptchaInput> {
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

/** Values for which the sandbox answers as this lot number says, so that every outcome can be seen. */
export async function forcedChallenge(lotNumber: string): Promise<ValidateCaptchaInput> {
  return { lotNumber, captchaOutput: 'none', passToken: 'none', genTime: '1' };
}
