import type { TypedDocumentNode } from '@apollo/client';
import { print } from 'graphql';
import { Captcha, Judge } from './desk/operations.ts';

/** Asks each address, and prints what the generated types make of the answers. */

async function ask<Result, Variables>(
  url: string,
  document: TypedDocumentNode<Result, Variables>,
  variables: Variables,
): Promise<Result> {
  const body = JSON.stringify({ query: print(document), variables });
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return JSON.parse(await answer.text()).data;
}

const unsolved = { lotNumber: 'sandbox:fail:pass_token expire', captchaOutput: 'o', passToken: 'p', genTime: '1' };
for (const url of process.argv.slice(2)) {
  const { deviceFingerprint: device } = await ask(url, Judge, { token: 'sandbox:android:EMULATOR' });
  const { validateCaptcha: captcha } = await ask(url, Captcha, { input: unsolved });
  const action = device?.__typename === 'DeviceFingerprint' ? device.decision?.action : 'other';
  const outcome = captcha?.__typename === 'CaptchaFailed' && captcha.category ? captcha.__typename : 'other';
  process.stdout.write(`${action} ${outcome}\n`);
}
