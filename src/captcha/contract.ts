import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { propertiesOf } from '../runtime/json.ts';
import type { CaptchaDetails, CaptchaFailureCategory } from '../schema.generated.ts';

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

/** The documented exceptions (7.2), each with its kind. A bot can provoke every exception of the client. */
export const EXCEPTIONS: ReadonlyMap<string, Readonly<{ msg: string; kind: ResponseKind }>> = new Map([
  ['-50000', { msg: 'runtime error', kind: 'exception of the service' }],
  ['-50001', { msg: 'illegal risk_type', kind: 'exception of the risk type' }],
  ['-50002', { msg: 'param decrypt error', kind: 'exception of the client' }],
  ['-50003', { msg: 'illegal verify', kind: 'exception of the client' }],
  ['-50004', { msg: 'jsonp xss', kind: 'exception of the client' }],
  ['-50005', { msg: 'illegal gen_time', kind: 'exception of the client' }],
  ['-50101', { msg: 'not captcha_id', kind: 'unknown captcha id' }],
  ['-50102', { msg: 'illegal captcha_id', kind: 'unknown captcha id' }],
  ['-50103', { msg: 'not captcha', kind: 'unknown captcha id' }],
  ['-50104', { msg: 'captcha_id deleted', kind: 'withdrawn captcha id' }],
  ['-50105', { msg: 'captcha_id paused', kind: 'withdrawn captcha id' }],
  ['-50301', { msg: 'not proof', kind: 'exception of the client' }],
  ['-50302', { msg: 'not lot_number', kind: 'exception of the client' }],
  ['-50303', { msg: 'illegal lot_number', kind: 'exception of the client' }],
  ['-50304', { msg: 'lot_number not match', kind: 'exception of the client' }],
  ['-50305', { msg: 'lot_number Expired', kind: 'exception of the client' }],
  ['-50306', { msg: 'process_token Error', kind: 'exception of the client' }],
  ['-50307', { msg: 'payload Error', kind: 'exception of the client' }],
  ['-50308', { msg: 'payload Used', kind: 'exception of the client' }],
]);

/** The families of the documented codes: the content of the request (-5000x and -503xx), and the captcha id (-501xx). */
const FAMILIES = /^-50(00|1\d|3\d)\d$/;

/**
 * The fields of `captcha_args` (2.3) by their names in the graph: the service's name, the type in a pass, and the sandbox's value.
 * A failure has those with `onFailure`. Only the lot number decides, so any other may be absent; an optional one without drift.
 */
export const DETAILS: Readonly<
  Record<
    Exclude<keyof CaptchaDetails, '__typename'>,
    Readonly<{ name: string; type: z.ZodType<string | undefined>; example: string; onFailure?: true }>
  >
> = {
  usedType: { name: 'used_type', type: z.string(), example: 'slide', onFailure: true },
  // The address is reserved for documentation (RFC 5737).
  userIp: { name: 'user_ip', type: z.string(), example: '203.0.113.40', onFailure: true },
  // Each challenge has its own.
  lotNumber: { name: 'lot_number', type: z.string(), example: '', onFailure: true },
  scene: { name: 'scene', type: z.string(), example: 'login' },
  referer: { name: 'referer', type: z.string(), example: 'https://shop.example/login' },
};

const FIELDS = Object.entries(DETAILS);

/** The documented pass (2.3, 2.4). */
export const passBody = z.object({
  status: z.literal('success'),
  result: z.literal('success'),
  reason: z.literal(''),
  captcha_args: z.object(Object.fromEntries(FIELDS.map(([, { name, type }]) => [name, type]))),
});

/** The fields of an exception (7.2). */
export interface Exception {
  readonly code: string | null;
  readonly type: string | null;
  /** The service's message, for the log. */
  readonly msg?: unknown;
}

/** The kinds of content of a response, apart from its HTTP status. `verdict.ts` says what each means. */
export type ResponseKind =
  | 'pass'
  /** It is about another lot number than the request. */
  | 'other lot number'
  /** It says that the challenge was passed, but contradicts itself or names no challenge. */
  | 'flawed pass'
  | 'rejection'
  | 'illegal signature'
  | 'undocumented rejection'
  | 'unknown captcha id'
  | 'withdrawn captcha id'
  | 'exception of the captcha id'
  | 'exception of the risk type'
  | 'exception of the client'
  | 'exception of the service'
  /** Of neither a documented code nor a documented family. */
  | 'unknown exception'
  | 'nothing documented';

export interface CaptchaResponse extends Exception {
  readonly kind: ResponseKind;
  readonly reason: string;
  readonly details: Readonly<Record<string, string | null>>;
  /** The fields of a pass that are absent or differ from the document. */
  readonly drifts: readonly string[];
}

/**
 * Reads the body of a response, which is undefined if it cannot be read. A rejection counts in any form, because a request whose
 * response is unusable could proceed under a policy.
 *
 * @param lotNumber that of the request; undefined for a probe, whose challenge is made up
 */
export function readResponse(body: unknown, lotNumber?: string): CaptchaResponse {
  const { reason, captcha_args } = propertiesOf(body);
  const args = propertiesOf(captcha_args);
  const details: Record<string, string | null> = {};
  for (const [detail, { name }] of FIELDS) details[detail] = textOf(args[name]);
  const exception = readException(body);
  const kind = kindOf(body, exception, lotNumber);
  const drifts = kind === 'pass' ? driftsOf(body) : [];
  return { kind, reason: textOf(reason) ?? '', details, drifts, ...(exception ?? { code: null, type: null }) };
}

function kindOf(body: unknown, exception: Exception | undefined, lotNumber: string | undefined): ResponseKind {
  const { status, result, reason, captcha_args } = propertiesOf(body);
  const { lot_number: about } = propertiesOf(captcha_args);
  if (isRejection(body)) {
    if (status !== 'success' || result !== 'fail') return 'undocumented rejection';
    return reason === 'illegal sign_token' ? 'illegal signature' : 'rejection';
  }
  if (exception && result !== 'success') return kindOfException(exception.code ?? '');
  if (about != null && lotNumber !== undefined && about !== lotNumber) return 'other lot number';
  if (result !== 'success') return 'nothing documented';
  return status === 'success' && typeof about === 'string' && !exception ? 'pass' : 'flawed pass';
}

/** The kind of an exception (7.2). A new code is of the kind of its family, so that bots cannot provoke the cause SERVICE. */
function kindOfException(code: string): ResponseKind {
  const documented = EXCEPTIONS.get(code);
  if (documented) return documented.kind;
  if (!FAMILIES.test(code)) return 'unknown exception';
  return code.startsWith('-501') ? 'exception of the captcha id' : 'exception of the client';
}

/** The fields of a pass that decide nothing: all except status, result and lot number. */
export const PASS_DRIFTS = ['reason', ...FIELDS.map(([, { name }]) => name).filter((name) => name !== 'lot_number')];

function driftsOf(pass: unknown): string[] {
  return passBody.safeParse(pass).error?.issues.map(({ path }) => String(path.at(-1))) ?? [];
}

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
