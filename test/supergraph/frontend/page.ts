import { onSubmit } from './answer.ts';
import { forcedChallenge, solveChallenge } from './challenge.ts';
import { createClient } from './client.ts';
import { judgeDevice } from './device.ts';
import { find } from './dom.ts';
import type { ValidateCaptchaInput } from './generated/graphql.ts';
import { orderAnswer } from './order.ts';

/** The page: its forms, and what each of them asks. */

const client = createClient(document.querySelector<HTMLMetaElement>('meta[name=gateway]')?.content ?? '');
const token = find('token', HTMLInputElement);

onSubmit('device', (fields) => {
  const example = fields.get('example');
  if (typeof example === 'string') token.value = example;
  return judgeDevice(client, token.value);
});

const again = find('again', HTMLButtonElement);
let captcha: ValidateCaptchaInput | undefined;

onSubmit('order', async (fields) => {
  const outcome = String(fields.get('outcome'));
  if (fields.get('values') !== 'again' || !captcha) {
    captcha = outcome === 'solved' ? await solveChallenge() : forcedChallenge(outcome);
  }
  again.disabled = false;
  return orderAnswer(client, captcha, {
    customerId: 'user-1',
    item: String(fields.get('item')),
    deviceToken: token.value,
  });
});
