import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { propertiesOf } from '../runtime/json.ts';
import type { CaptchaFailureCategory, CaptchaIndeterminateCause } from '../schema.generated.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';

/** The paths, names, codes and shapes of the captcha document, without any I/O. Section numbers are that document's. */

/** Path of the one endpoint (section 4). */
export const VALIDATE_TEMPLATE = '/validate';

/** The signature (section 5): HMAC-SHA256 of the lot number, both in UTF-8, as lower-case hex. */
export function signToken(lotNumber: string, captchaKey: string): string {
  return createHmac('sha256', captchaKey).update(lotNumber, 'utf8').digest('hex');
}

/** The documented failure reasons (7.1), each with its category in the graph. */
export const FAILURE_CATEGORIES: ReadonlyMap<string, CaptchaFailureCategory> = new Map([
  ['pass_token expire', 'PASS_TOKEN_EXPIRED'],
  ['lot_number not match', 'LOT_NUMBER_MISMATCH'],
  ['illegal sign_token', 'ILLEGAL_SIGN_TOKEN'],
]);

/** The documented exceptions (7.2), each with the side that can cause it. A bot can provoke every exception of CLIENT. */
export const EXCEPTIONS: ReadonlyMap<string, Readonly<{ msg: string; cause: CaptchaIndeterminateCause }>> = new Map([
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

/** The families of the documented codes: the content of the request (-5000x and -503xx), and the captcha id (-501xx). */
const FAMILIES = /^-50(00|1\d|3\d)\d$/;

/** The cause of an exception (7.2). A new code has the cause of its family, so that bots cannot provoke the cause SERVICE. */
export function causeOfException(code: string): CaptchaIndeterminateCause {
  const documented = EXCEPTIONS.get(code);
  if (documented) return documented.cause;
  if (!FAMILIES.test(code)) return 'SERVICE';
  return code.startsWith('-501') ? 'CONFIGURATION' : 'CLIENT';
}

/** The documented exceptions about the captcha id itself (7.2), which no client can cause. */
export const ABOUT_ID = /^-5010[1-5]$/;

/** The documented pass (2.3, 2.4). */
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

/** The fields of an exception (7.2). */
export interface Exception {
  readonly code: string | null;
  readonly type: string | null;
  /** The service's message, for the log. */
  readonly msg?: unknown;
}

/** The content of a response, apart from its HTTP status. */
export type CaptchaResponse =
  | {
      readonly kind: 'rejection';
      /** Do `status` and `result` have the documented values? */
      readonly isDocumented: boolean;
      readonly reason: string;
      readonly details: Readonly<Record<'usedType' | 'userIp' | 'lotNumber', string | null>>;
    }
  | (Exception & { readonly kind: 'exception' })
  | {
      readonly kind: 'pass';
      readonly lot_number: string;
      readonly details: Readonly<Record<'usedType' | 'userIp' | 'scene' | 'referer', string | null>>;
      /** The fields that are absent or differ from the document. */
      readonly drifts: readonly PassDrift[];
    }
  /** The body says that the challenge was passed, but contradicts itself or names no challenge. */
  | (Exception & { readonly kind: 'flawed pass'; readonly lot_number: unknown })
  | { readonly kind: 'other'; readonly lot_number: unknown; readonly unreadable: string | undefined };

/** Reads a response. A rejection counts in any form, because a request whose response is unusable could proceed under a policy. */
export function readResponse(received: Pick<UpstreamResponse, 'json' | 'unreadable'>): CaptchaResponse {
  const { json: body, unreadable } = received;
  const { status, result, reason, captcha_args } = propertiesOf(body);
  const args = propertiesOf(captcha_args);
  const { used_type, user_ip, lot_number, scene, referer } = args;
  const shared = { usedType: textOf(used_type), userIp: textOf(user_ip) };
  if (isRejection(body)) {
    const details = { ...shared, lotNumber: textOf(lot_number) };
    const isDocumented = status === 'success' && result === 'fail';
    return { kind: 'rejection', isDocumented, reason: textOf(reason) ?? '', details };
  }
  const exception = readException(body);
  if (result !== 'success')
    return exception ? { kind: 'exception', ...exception } : { kind: 'other', lot_number, unreadable };
  // Status, result and lot number decide. All else is information, which a newer service may leave out or extend.
  if (status === 'success' && typeof lot_number === 'string' && !exception) {
    const details = { ...shared, scene: textOf(scene), referer: textOf(referer) };
    const drifts = PASS_DRIFTS.filter((field) =>
      field === 'reason' ? reason !== '' : typeof args[field] !== 'string',
    );
    return { kind: 'pass', lot_number, details, drifts };
  }
  return { kind: 'flawed pass', lot_number, ...(exception ?? { code: null, type: null }) };
}

/** The fields of a pass that decide nothing. A property test compares `readResponse` with `passBody`. */
export const PASS_DRIFTS = ['reason', 'used_type', 'user_ip', 'scene', 'referer'] as const;
export type PassDrift = (typeof PASS_DRIFTS)[number];

/** Is this a rejection: a reason of 7.1, status `fail…`, result not `success` (2.3), or status `success…` without result? */
function isRejection(body: unknown): boolean {
  const { status, result, reason } = propertiesOf(body);
  const word = textOf(status) ?? '';
  if (FAILURE_CATEGORIES.has(textOf(reason) ?? '') || /^\s*fail/i.test(word)) return true;
  return result != null && result !== '' ? result !== 'success' : /^\s*success/i.test(word);
}

function readException(body: unknown): Exception | undefined {
  const { status, code: given, desc, msg } = propertiesOf(body);
  const code = typeof given === 'number' ? String(given) : (textOf(given) ?? '').trim();
  if (status !== 'error' && !FAMILIES.test(code)) return undefined;
  return { code: /^-?\d{1,10}$/.test(code) ? code : null, type: textOf(propertiesOf(desc)['type']), msg };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
