import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { expect } from 'vitest';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import { type Audit, audit, type CaptchaAccount, type Challenge, type Reply, send } from './target.ts';

/** Verifying a challenge, and reading the three result shapes. Section numbers are the captcha document's. */

export interface Parameters extends Challenge {
  readonly captcha_id: string;
  readonly sign_token: string;
}

/** `sign_token` (5): HMAC-SHA256 of the lot number under the captcha key, both UTF-8, lower-case hex. */
export function sign(lotNumber: string, captchaKey: string): string {
  return createHmac('sha256', captchaKey).update(lotNumber).digest('hex');
}

/** All six parameters of 2.1, as a caller's server puts them together. */
export function parametersOf(account: CaptchaAccount, challenge: Challenge): Parameters {
  const { lot_number, captcha_output, pass_token, gen_time } = challenge;
  const sign_token = sign(lot_number, account.captchaKey);
  return { captcha_id: account.captchaId, lot_number, captcha_output, pass_token, gen_time, sign_token };
}

/** A challenge that nobody solved: for outcomes that do not depend on one. */
export function unsolved(lotNumber: string): Challenge {
  return { lot_number: lotNumber, captcha_output: 'output', pass_token: 'token', gen_time: '1748779200' };
}

/** The recommended form of the request (4): POST, captcha_id in the URL, the other five as form data. */
export function submit(account: CaptchaAccount, parameters: Partial<Parameters>): Promise<Reply> {
  const { captcha_id, ...form } = parameters;
  return post(account, captcha_id === undefined ? {} : { captcha_id }, new URLSearchParams(form).toString());
}

export function post(
  account: CaptchaAccount,
  query: Readonly<Record<string, string>>,
  body: string,
  contentType = 'application/x-www-form-urlencoded',
): Promise<Reply> {
  return send(validateUrl(account, query), { headers: { 'content-type': contentType }, body });
}

export function get(account: CaptchaAccount, query: Readonly<Record<string, string>>): Promise<Reply> {
  return send(validateUrl(account, query), { method: 'GET' });
}

export function verify(account: CaptchaAccount, challenge: Challenge): Promise<Reply> {
  return submit(account, parametersOf(account, challenge));
}

function validateUrl(account: CaptchaAccount, query: Readonly<Record<string, string>>): string {
  return `${account.url}/validate?${new URLSearchParams(query)}`;
}

/** An audit of what becomes of a challenge that somebody has just solved. */
export function onSolved(
  id: string,
  name: string,
  fn: (captcha: CaptchaAccount, challenge: Challenge, solveAnother: () => Promise<Challenge>) => Promise<void>,
): Audit {
  return audit(id, name, ['captcha', 'solve'], async ({ captcha, solve }) =>
    fn(captcha, await solve(captcha), () => solve(captcha)),
  );
}

const TEXT: unknown = expect.any(String);
const USED = { used_type: TEXT, user_ip: expect.toSatisfy((ip) => isIP(ip) > 0) };

/** 2.4, passed: returns captcha_args with the five fields of 2.3, and maybe newer ones. A caller takes any other HTTP status for a failed request (7.3). */
export function expectPass(reply: Reply, lot_number = TEXT): void {
  const captcha_args = expect.objectContaining({ ...USED, lot_number, scene: TEXT, referer: TEXT });
  expect(reply).toEqual({ status: 200, body: { status: 'success', result: 'success', reason: '', captcha_args } });
}

/** 2.4, failed for a reason: returns captcha_args with the first three fields of 2.3, and without the other two. */
export function expectFail(reply: Reply, reason: string, lot_number = TEXT): void {
  const captcha_args = expect.objectContaining({ ...USED, lot_number });
  expect(reply).toEqual({ status: 200, body: { status: 'success', result: 'fail', reason, captcha_args } });
  for (const name of ['scene', 'referer']) expect(Object(reply.body).captcha_args).not.toHaveProperty(name);
}

/** 2.4, exception: one of the documented codes with its message (7.2). The HTTP status is not shown. */
export function expectException({ body }: Reply, code = Object(body).code): void {
  const msg = exceptions.find((exception) => exception.code === code)?.msg ?? 'the message of a documented code';
  expect(body).toEqual({ status: 'error', code, msg, desc: expect.objectContaining({ type: TEXT }) });
}

/** A refusal has one of the documented shapes, and is not a pass. */
export function expectNoPass(reply: Reply): void {
  const { status, reason } = Object(reply.body);
  if (status === 'error') expectException(reply);
  else expectFail(reply, reason);
}
