import { EXCEPTIONS } from '../captcha/contract.ts';
import type { Answer } from './http.ts';

/** The three shapes of a captcha answer (captcha document, 2.3 and 2.4). */

/** Verification type and address of whoever solved the challenge; the address is one set aside for documentation. */
const SOLVED_BY = { used_type: 'slide', user_ip: '203.0.113.40' };

/** The verification passed: the only shape with a scene and a referer. */
export function passed(lotNumber: string): Answer {
  const args = { ...SOLVED_BY, lot_number: lotNumber, scene: 'login', referer: 'https://shop.example/login' };
  return { status: 200, body: { status: 'success', result: 'success', reason: '', captcha_args: args } };
}

/** The verification failed for one of the reasons of 7.1, or for another one that a lot number asked for. */
export function failed(reason: string, lotNumber: string): Answer {
  const args = { ...SOLVED_BY, lot_number: lotNumber };
  return { status: 200, body: { status: 'success', result: 'fail', reason, captcha_args: args } };
}

/**
 * An exception (7.2). The status is 200 like that of any other answer, unless the request never got as far as a
 * verification. Throws for a code that is not documented.
 */
export function exception(code: string, status = 200): Answer {
  const documented = EXCEPTIONS.get(code);
  if (!documented) throw new RangeError(`undocumented captcha exception ${code}`);
  const type = code === '-50000' ? 'undefined error' : 'defined error';
  return { status, body: { status: 'error', code, msg: documented.msg, desc: { type } } };
}
