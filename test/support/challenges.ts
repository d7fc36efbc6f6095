/** The values of a solved captcha challenge, as `ValidateCaptchaInput` takes them. */
export type Challenge = Readonly<Record<'lotNumber' | 'captchaOutput' | 'passToken' | 'genTime', string>>;

/** The captcha id of the sandbox's first account, which is in region GLB. */
export const FIRST_CAPTCHA_ID = 'a'.repeat(32);

/** Asks a sandbox for a challenge that somebody solved. Rejects unless it issues one. */
export async function solveChallenge(sandboxUrl: string, captchaId = FIRST_CAPTCHA_ID): Promise<Challenge> {
  const url = `${sandboxUrl}/sandbox/challenges?captcha_id=${captchaId}`;
  const response = await fetch(url, { method: 'POST' });
  if (!response.ok) throw new Error(`expected a challenge, but got ${response.status}`);
  const { lot_number, captcha_output, pass_token, gen_time } = await response.json();
  return { lotNumber: lot_number, captchaOutput: captcha_output, passToken: pass_token, genTime: gen_time };
}
