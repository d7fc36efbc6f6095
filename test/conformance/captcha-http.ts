import { createHmac } from 'node:crypto';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import { expectKeys, expectObject, expectSame, expectText, expectThat, fail, type Reply, send } from './expect.ts';
import { type Audit, audit, type CaptchaAccount, type Challenge } from './target.ts';

/** Verifying a challenge, and reading the three result shapes. Section numbers are the captcha document's. */

export interface Parameters extends Challenge {
  readonly captcha_id: string;
  readonly sign_token: string;
}

/** `sign_token` (5): HMAC-SHA256 of the lot number under the captcha key, both UTF-8, lower-case hex. */
export function sign(lotNumber: string, captchaKey: string): string {
  const key = Buffer.from(captchaKey, 'utf8');
  return createHmac('sha256', key).update(Buffer.from(lotNumber, 'utf8')).digest('hex');
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
  id: `CA-${string}-${string}`,
  name: string,
  fn: (captcha: CaptchaAccount, challenge: Challenge, solveAnother: () => Promise<Challenge>) => Promise<void>,
): Audit {
  return audit(id, name, ['captcha', 'solve'], async ({ captcha, solve }) =>
    fn(captcha, await solve(captcha), () => solve(captcha)),
  );
}

type Details = Readonly<Record<string, unknown>>;

/** 2.4, passed: returns captcha_args with its five fields (2.3). */
export function expectPass({ status, body }: Reply): Details {
  // A caller takes any other HTTP status for a failed request (7.3).
  expectSame(status, 200, 'HTTP status');
  const verdict = expectObject(body, 'a verdict');
  expectSame([verdict['status'], verdict['result'], verdict['reason']], ['success', 'success', ''], 'a pass');
  expectKeys(verdict, ['status', 'result', 'reason', 'captcha_args'], 'a pass');
  return expectDetails(verdict, ['used_type', 'user_ip', 'lot_number', 'scene', 'referer']);
}

/** 2.4, failed for a reason: returns captcha_args with its three fields (2.3). */
export function expectFail({ status, body }: Reply, reason: string): Details {
  expectSame(status, 200, 'HTTP status');
  const verdict = expectObject(body, 'a verdict');
  expectSame([verdict['status'], verdict['result'], verdict['reason']], ['success', 'fail', reason], 'a failure');
  expectKeys(verdict, ['status', 'result', 'reason', 'captcha_args'], 'a failure');
  return expectDetails(verdict, ['used_type', 'user_ip', 'lot_number']);
}

function expectDetails(verdict: Details, keys: readonly string[]): Details {
  const details = expectKeys(verdict['captcha_args'], keys, 'captcha_args');
  for (const [key, value] of Object.entries(details)) expectText(value, `captcha_args.${key}`);
  return details;
}

/** 2.4, exception: one of the documented codes with its message (7.2). The HTTP status is not shown. Returns the code. */
export function expectException({ body }: Reply, expectedCode?: string): string {
  const answer = expectKeys(body, ['status', 'code', 'msg', 'desc'], 'an exception');
  expectSame(answer['status'], 'error', 'status');
  const code = expectText(answer['code'], 'code');
  if (expectedCode !== undefined) expectSame(code, expectedCode, 'code');
  const documented = exceptions.find((exception) => exception.code === code) ?? fail('a documented code', code);
  expectSame(answer['msg'], documented.msg, `msg of ${code}`);
  expectText(expectObject(answer['desc'], 'desc')['type'], 'desc.type');
  return code;
}

/** A refusal has one of the documented shapes, and is not a pass. */
export function expectNoPass(reply: Reply): void {
  const { status, result, reason } = expectObject(reply.body, 'a verdict');
  expectThat(status === 'error' || result === 'fail', 'a failure or an exception', reply.body);
  if (status === 'error') expectException(reply);
  else expectFail(reply, expectText(reason, 'reason'));
}
