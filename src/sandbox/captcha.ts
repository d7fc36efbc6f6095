import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { DETAILS, EXCEPTIONS, signToken } from '../captcha/contract.ts';
import type { Region } from '../upstream/settings.ts';
import { findCaptcha, type SandboxCaptcha } from './accounts.ts';
import { type JsonResponse, mediaType, readBody } from './http.ts';

const CHALLENGE_LIFETIME_MS = 10 * 60 * 1000;

const text = z.string().default('');
/** The values of the client SDK for a solved challenge (captcha document, 2.1). `gen_time` is in seconds since 1970, as digits. */
const challengeForm = z.object({ lot_number: text, captcha_output: text, pass_token: text, gen_time: text });
export type Challenge = Readonly<z.output<typeof challengeForm>>;

export interface IssuedChallenge extends Challenge {
  readonly captchaId: string;
  readonly expiresAtMs: number;
  isVerified: boolean;
}

/** The challenges of all regions. Each belongs to a captcha id, and so to the region of this id. */
type Challenges = LRUCache<string, IssuedChallenge>;

/** Issues a solved challenge. An unknown, deleted or paused captcha id gets the exception that a verification would get. */
export function issueChallenge(query: URLSearchParams, region: Region, challenges: Challenges): JsonResponse {
  const captcha = findCaptcha(query.get('captcha_id') ?? '', region);
  if (typeof captcha === 'string') return exception(captcha);
  const { captchaId } = captcha;
  const now = Date.now();
  const challenge: Challenge = {
    lot_number: randomBytes(16).toString('hex'),
    captcha_output: randomBytes(96).toString('base64url'),
    pass_token: randomBytes(32).toString('hex'),
    gen_time: String(Math.floor(now / 1000)),
  };
  const expiresAtMs = now + CHALLENGE_LIFETIME_MS;
  challenges.set(challenge.lot_number, { ...challenge, captchaId, expiresAtMs, isVerified: false });
  return { status: 200, body: { captcha_id: captchaId, ...challenge } };
}

/** Verifies a challenge (4), the signature first: without the key, the response reveals nothing. Throws on a disconnect. */
export async function validateChallenge(
  request: IncomingMessage,
  query: URLSearchParams,
  region: Region,
  { challenges, keys }: { readonly challenges: Challenges; readonly keys: ReadonlyMap<string, string> },
): Promise<JsonResponse> {
  const body = await readBody(request);
  if (!body) return exception('-50000', 413);
  const isForm = mediaType(request.headers['content-type']) === 'application/x-www-form-urlencoded';
  const form = request.method === 'GET' ? query : isForm ? new URLSearchParams(body.toString()) : undefined;
  const captcha = captchaOf(query, form, region);
  if (typeof captcha === 'string') return exception(captcha);
  // Section 4, rule 2: a wrong format is the typical cause of -50005.
  if (!form) return exception('-50005');

  // Of repeated values the first counts.
  const claimed = challengeForm.parse(Object.fromEntries([...form].reverse()));
  const code = findInvalidParameter(claimed);
  if (code !== undefined) return exception(code);
  if (form.get('sign_token') !== signToken(claimed.lot_number, keys.get(captcha.captchaId) ?? ''))
    return failed('illegal sign_token', claimed.lot_number);
  return forcedOutcome(claimed.lot_number) ?? verify(claimed, captcha.captchaId, challenges);
}

/** The configuration that the URL or the form names, or the code of an exception. If both name an id, it has to be the same id. */
function captchaOf(query: URLSearchParams, form: URLSearchParams | undefined, region: Region): SandboxCaptcha | string {
  const named = [...query.getAll('captcha_id'), ...(form?.getAll('captcha_id') ?? [])].filter((id) => id !== '');
  const [captchaId = '', another] = new Set(named);
  return another === undefined ? findCaptcha(captchaId, region) : '-50102';
}

/** The exception code of the first parameter that is missing or malformed; undefined if there is none. */
function findInvalidParameter({ lot_number, captcha_output, pass_token, gen_time }: Challenge): string | undefined {
  if (!/^[0-9]+$/.test(gen_time)) return '-50005';
  if (lot_number === '') return '-50302';
  if (!/^[0-9a-f]{32}$/.test(lot_number) && !forcedOutcome(lot_number)) return '-50303';
  if (captcha_output === '') return '-50002';
  if (pass_token === '') return '-50306';
  return undefined;
}

/** The outcome that a lot number names in plain text; undefined if it names no outcome, or an unknown exception. */
function forcedOutcome(lotNumber: string): JsonResponse | undefined {
  const [, outcome, value = ''] = /^sandbox:(fail|exception):(.+)$/s.exec(lotNumber) ?? [];
  if (outcome === 'fail') return failed(value, lotNumber);
  return outcome === 'exception' && EXCEPTIONS.has(value) ? exception(value) : undefined;
}

/** Compares the values with the challenge that was issued. Only a pass consumes it. */
function verify(claimed: Challenge, captchaId: string, challenges: Challenges): JsonResponse {
  const lotNumber = claimed.lot_number;
  const issued = challenges.peek(lotNumber);
  if (!issued) return exception('-50301');
  if (issued.captchaId !== captchaId) return failed('lot_number not match', lotNumber);
  if (issued.captcha_output !== claimed.captcha_output) return exception('-50002');
  if (issued.pass_token !== claimed.pass_token) return exception('-50306');
  if (issued.gen_time !== claimed.gen_time) return exception('-50005');
  if (issued.isVerified) return exception('-50003');
  if (Date.now() >= issued.expiresAtMs) return failed('pass_token expire', lotNumber);
  issued.isVerified = true;
  return judged('success', '', lotNumber);
}

/** The verification failed (2.4), for a reason of 7.1 or one that the lot number names. */
const failed = (reason: string, lotNumber: string) => judged('fail', reason, lotNumber);

/** A pass or a failure (2.4), which has fewer details (2.3). */
function judged(result: 'success' | 'fail', reason: string, lotNumber: string): JsonResponse {
  const details = Object.values(DETAILS).filter(({ onFailure }) => result === 'success' || onFailure);
  const examples = Object.fromEntries(details.map(({ name, example }) => [name, example]));
  const captcha_args = { ...examples, lot_number: lotNumber };
  return { status: 200, body: { status: 'success', result, reason, captcha_args } };
}

/** A documented exception (7.2). Its HTTP status is 200, as for every verification, unless the body was too long. */
function exception(code: string, status = 200): JsonResponse {
  const type = code === '-50000' ? 'undefined error' : 'defined error';
  return { status, body: { status: 'error', code, msg: EXCEPTIONS.get(code)?.msg, desc: { type } } };
}
