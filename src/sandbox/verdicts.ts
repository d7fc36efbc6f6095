import { EXCEPTIONS } from '../captcha/contract.ts';
import type { JsonResponse } from './http.ts';

/** The three kinds of response to a captcha verification (captcha document, 2.3 and 2.4). */

/** How the challenge was solved, and from which address: one reserved for documentation (RFC 5737). */
const SOLVED_BY = { used_type: 'slide', user_ip: '203.0.113.40' };

/** The verification passed. Only this response has a scene and a referer. */
export function passed(lotNumber: string): JsonResponse {
  const args = { ...SOLVED_BY, lot_number: lotNumber, scene: 'login', referer: 'https://shop.example/login' };
  return { status: 200, body: { status: 'success', result: 'success', reason: '', captcha_args: args } };
}

/** The verification failed, for a reason of 7.1 or one that the lot number names. */
export function failed(reason: string, lotNumber: string): JsonResponse {
  const args = { ...SOLVED_BY, lot_number: lotNumber };
  return { status: 200, body: { status: 'success', result: 'fail', reason, captcha_args: args } };
}

/**
 * An exception (7.2). Its status is 200, as for every verification; a request that is refused before that has another one.
 *
 * @throws RangeError for a code that is not documented
 */
export function exception(code: string, status = 200): JsonResponse {
  const documented = EXCEPTIONS.get(code);
  if (!documented) throw new RangeError(`expected a documented captcha exception, but got ${code}`);
  const type = code === '-50000' ? 'undefined error' : 'defined error';
  return { status, body: { status: 'error', code, msg: documented.msg, desc: { type } } };
}
