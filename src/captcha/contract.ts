import { z } from 'zod';
import type { CaptchaFailureCategory, CaptchaIndeterminateCause } from '../schema.generated.ts';

/** The paths, names, codes and shapes of the captcha document, without any I/O. Section numbers are that document's. */

/** Path of the one endpoint (section 4). */
export const VALIDATE_TEMPLATE = '/validate';

/** The same with its query, which has the public captcha id and nothing else. */
export function validatePath(captchaId: string): string {
  return `${VALIDATE_TEMPLATE}?captcha_id=${encodeURIComponent(captchaId)}`;
}

/** The form of a verification (2.1), without the captcha id. */
export interface ValidateForm {
  lot_number: string;
  captcha_output: string;
  pass_token: string;
  /** Digits only; anything else is -50005. */
  gen_time: string;
  sign_token: string;
}

/** The documented failure reasons (7.1), each with its category in the graph. */
export const FAILURE_CATEGORIES: ReadonlyMap<string, CaptchaFailureCategory> = new Map([
  ['pass_token expire', 'PASS_TOKEN_EXPIRED'],
  ['lot_number not match', 'LOT_NUMBER_MISMATCH'],
  ['illegal sign_token', 'ILLEGAL_SIGN_TOKEN'],
]);

interface CaptchaException {
  readonly msg: string;
  /** Who can cause it. CLIENT means that a bot can, at will. */
  readonly cause: CaptchaIndeterminateCause;
}

/** The documented exceptions (7.2). */
export const EXCEPTIONS: ReadonlyMap<string, CaptchaException> = new Map([
  ['-50000', { msg: 'runtime error', cause: 'SERVICE' }],
  ['-50001', { msg: 'illegal risk_type', cause: 'CONFIGURATION' }],
  ['-50002', { msg: 'param decrypt error', cause: 'CLIENT' }],
  ['-50003', { msg: 'illegal verify', cause: 'CLIENT' }],
  ['-50004', { msg: 'jsonp xss', cause: 'CLIENT' }],
  ['-50005', { msg: 'illegal gen_time', cause: 'CLIENT' }],
  ['-50101', { msg: 'not captcha_id', cause: 'CONFIGURATION' }],
  ['-50102', { msg: 'illegal captcha_id', cause: 'CONFIGURATION' }],
  ['-50103', { msg: 'not captcha', cause: 'CONFIGURATION' }],
  ['-50104', { msg: 'captcha_id deleted', cause: 'CONFIGURATION' }],
  ['-50105', { msg: 'captcha_id paused', cause: 'CONFIGURATION' }],
  ['-50301', { msg: 'not proof', cause: 'CLIENT' }],
  ['-50302', { msg: 'not lot_number', cause: 'CLIENT' }],
  ['-50303', { msg: 'illegal lot_number', cause: 'CLIENT' }],
  ['-50304', { msg: 'lot_number not match', cause: 'CLIENT' }],
  ['-50305', { msg: 'lot_number Expired', cause: 'CLIENT' }],
  ['-50306', { msg: 'process_token Error', cause: 'CLIENT' }],
  ['-50307', { msg: 'payload Error', cause: 'CLIENT' }],
  ['-50308', { msg: 'payload Used', cause: 'CLIENT' }],
]);

/** The families of the documented codes: what was sent (-5000x and -503xx), and the captcha id (-501xx). */
const FAMILIES = /^-50(00|1\d|3\d)\d$/;

/**
 * Who can cause an exception (7.2). A code that is not documented has the cause of its family, so that a new code for
 * something that a bot can provoke does not become a failure of the service.
 *
 * @param code as `exceptionBody` reads it
 */
export function causeOfException(code: string): CaptchaIndeterminateCause {
  const documented = EXCEPTIONS.get(code);
  if (documented) return documented.cause;
  if (!FAMILIES.test(code)) return 'SERVICE';
  return code.startsWith('-501') ? 'CONFIGURATION' : 'CLIENT';
}

/** A pass (2.3, 2.4). Strict: only exactly the documented pass counts. */
export const passBody = z.object({
  status: z.literal('success'),
  result: z.literal('success'),
  reason: z.literal(''),
  captcha_args: z.object({
    used_type: z.string(),
    user_ip: z.string(),
    lot_number: z.string(),
    scene: z.string(),
    referer: z.string(),
  }),
});

const lenientText = z.string().optional().catch(undefined);

/**
 * The lot number of a response, whatever else is wrong with it: a response for another challenge says nothing about
 * ours.
 */
export const lotNumberBody = z.object({ captcha_args: z.object({ lot_number: z.unknown() }) });

/**
 * Does this body reject the challenge? `fail` is documented (2.3), but any spelling of it counts, in `status` as well, and
 * so does a documented reason of a failure (7.1). After `status: "success"` there are two results (2.4), so each one that
 * is not the pass is a rejection. Otherwise it would be an unusable response, which a policy may let proceed.
 */
export function isRejection(body: unknown): boolean {
  const { status, result, reason } = Object(body);
  if (status === 'success' && result === 'success') return FAILURE_CATEGORIES.has(reason);
  if (result === false || beginsWith(FAIL, result) || beginsWith(FAIL, status)) return true;
  return FAILURE_CATEGORIES.has(reason) || (result !== 'success' && beginsWith(SUCCESS, status));
}

/** Does this body reject the challenge with the `status` and the `result` that are documented for it (2.4)? */
export function isDocumentedRejection(body: unknown): boolean {
  const { status, result } = Object(body);
  return status === 'success' && result === 'fail';
}

/**
 * Does this body judge the challenge, whether or not it does so as documented? An exception has no `result` (2.4), and
 * something else than a response of the service, such as the page of a proxy, has neither field.
 */
export function isJudgement(body: unknown): boolean {
  const { status, result } = Object(body);
  return (typeof result === 'string' && result !== '') || beginsWith(SUCCESS, status);
}

const FAIL = /^\s*fail/i;
const SUCCESS = /^\s*success/i;

function beginsWith(word: RegExp, value: unknown): boolean {
  return typeof value === 'string' && word.test(value);
}

/** The other fields of a failed verification (2.3, 2.4). Lenient: with wrong details it is still a failure. */
export const failBody = z.object({
  reason: z.string().catch(''),
  captcha_args: z
    .object({ used_type: lenientText, user_ip: lenientText, lot_number: lenientText })
    .catch({ used_type: undefined, user_ip: undefined, lot_number: undefined }),
});

const exceptionCode = z.preprocess(
  (code) => (typeof code === 'number' ? String(code) : code),
  z
    .string()
    .trim()
    .regex(/^-?\d{1,10}$/),
);
const description = z.object({ type: lenientText }).catch({ type: undefined });

/**
 * An exception (7.2). Lenient as well: a numeric `code` is read as its text, and one of a documented family needs no
 * `status`. Otherwise an exception that a client caused would be an unusable response, which a policy may let proceed.
 */
export const exceptionBody = z.union([
  z.object({ code: exceptionCode.refine((code) => FAMILIES.test(code)), desc: description }),
  z.object({ status: z.literal('error'), code: exceptionCode.optional().catch(undefined), desc: description }),
]);
