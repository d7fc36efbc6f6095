import { expectObject, expectText } from './expect.ts';
import { send } from './http.ts';
import type { Challenge } from './target.ts';

/** Gets a solved challenge from the sandbox, or from a team's own solver that answers in the same way. */
export async function takeChallenge(issuer: string, captchaId: string): Promise<Challenge> {
  const { body } = await send(`${issuer}?${new URLSearchParams({ captcha_id: captchaId })}`, {});
  const challenge = expectObject(body, 'a solved challenge');
  return {
    lot_number: expectText(challenge['lot_number'], 'lot_number'),
    captcha_output: expectText(challenge['captcha_output'], 'captcha_output'),
    pass_token: expectText(challenge['pass_token'], 'pass_token'),
    gen_time: expectText(challenge['gen_time'], 'gen_time'),
  };
}
