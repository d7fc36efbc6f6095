import { createHmac, timingSafeEqual } from 'node:crypto';
import { EXCEPTIONS } from '../captcha/contract.ts';
import { findCaptcha, type SandboxCaptcha, type SandboxRegion } from './accounts.ts';
import type { Challenge, ChallengeStore } from './challenges.ts';
import { type JsonResponse, mediaType } from './http.ts';
import { exception, failed, passed } from './verdicts.ts';

/** An HTTP request for a verification. */
interface ValidationRequest {
  /** The region whose address received the request. */
  readonly region: SandboxRegion;
  readonly method: 'GET' | 'POST';
  readonly contentType: string | undefined;
  readonly query: URLSearchParams;
  /** Undefined if the body is too long. */
  readonly body: Buffer | undefined;
}

const LOT_NUMBER = /^[0-9a-f]{32}$/;
const FORCED_LOT_NUMBER = /^sandbox:(?:fail:(?<reason>.+)|exception:(?<code>-\d+))$/s;

/** Issues a solved challenge. An unknown, deleted or paused captcha id gets the exception that a verification would get. */
export function issueChallenge(
  region: SandboxRegion,
  query: URLSearchParams,
  challenges: ChallengeStore,
): JsonResponse {
  const captcha = findCaptcha(query.get('captcha_id') ?? '', region);
  if (typeof captcha === 'string') return exception(captcha);
  return { status: 200, body: { captcha_id: captcha.captchaId, ...challenges.issue(captcha.captchaId) } };
}

/**
 * Verifies a challenge (captcha document, 4). The document leaves the order of the checks open; README.md states this one:
 * the configuration, the form, each parameter, the signature, and the challenge last, so that a request without the key
 * reveals nothing about it. Only a pass consumes the challenge.
 */
export function validateChallenge(request: ValidationRequest, challenges: ChallengeStore): JsonResponse {
  if (!request.body) return exception('-50000', 413);
  const form = formOf(request, request.body);
  const captcha = captchaOf(request, form);
  if (typeof captcha === 'string') return exception(captcha);
  // Section 4, rule 2: a wrong format is the typical cause of -50005.
  if (!form) return exception('-50005');

  const challenge = challengeOf(form);
  const code = findInvalidParameter(challenge);
  if (code !== undefined) return exception(code);
  if (!isSignature(form.get('sign_token') ?? '', challenge.lot_number, captcha.captchaKey)) {
    return failed('illegal sign_token', challenge.lot_number);
  }
  return forcedOutcome(challenge.lot_number) ?? verify(challenge, captcha.captchaId, challenges);
}

/** The parameters: the form of a POST or the query of a GET; undefined for a POST without a form. */
function formOf({ method, contentType, query }: ValidationRequest, body: Buffer): URLSearchParams | undefined {
  if (method === 'GET') return query;
  return mediaType(contentType) === 'application/x-www-form-urlencoded'
    ? new URLSearchParams(body.toString())
    : undefined;
}

/** The configuration that the URL or the form names. If both name one, it has to be the same. */
function captchaOf({ region, query }: ValidationRequest, form: URLSearchParams | undefined): SandboxCaptcha | string {
  const named = [...query.getAll('captcha_id'), ...(form?.getAll('captcha_id') ?? [])].filter((id) => id !== '');
  const [captchaId = '', another] = new Set(named);
  return another === undefined ? findCaptcha(captchaId, region) : '-50102';
}

function challengeOf(form: URLSearchParams): Challenge {
  return {
    lot_number: form.get('lot_number') ?? '',
    captcha_output: form.get('captcha_output') ?? '',
    pass_token: form.get('pass_token') ?? '',
    gen_time: form.get('gen_time') ?? '',
  };
}

/** The exception code of the first parameter that is missing or malformed; undefined if there is none. */
function findInvalidParameter({ lot_number, captcha_output, pass_token, gen_time }: Challenge): string | undefined {
  if (!/^[0-9]+$/.test(gen_time)) return '-50005';
  if (lot_number === '') return '-50302';
  if (!LOT_NUMBER.test(lot_number) && !forcedOutcome(lot_number)) return '-50303';
  if (captcha_output === '') return '-50002';
  if (pass_token === '') return '-50306';
  return undefined;
}

/** The outcome that a lot number names in plain text; undefined if it names none, or an unknown exception. */
function forcedOutcome(lotNumber: string): JsonResponse | undefined {
  const { reason, code } = FORCED_LOT_NUMBER.exec(lotNumber)?.groups ?? {};
  if (reason !== undefined) return failed(reason, lotNumber);
  return code !== undefined && EXCEPTIONS.has(code) ? exception(code) : undefined;
}

/** Is this the HMAC-SHA256 of the lot number under the key, in lower-case hexadecimal (section 5)? */
function isSignature(signToken: string, lotNumber: string, captchaKey: string): boolean {
  const expected = Buffer.from(createHmac('sha256', captchaKey).update(lotNumber).digest('hex'));
  const actual = Buffer.from(signToken);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Compares the values with the challenge that was issued. A pass consumes it. */
function verify(claimed: Challenge, captchaId: string, challenges: ChallengeStore): JsonResponse {
  const lotNumber = claimed.lot_number;
  const issued = challenges.find(lotNumber);
  if (!issued) return exception('-50301');
  if (issued.captchaId !== captchaId) return failed('lot_number not match', lotNumber);
  if (issued.captcha_output !== claimed.captcha_output) return exception('-50002');
  if (issued.pass_token !== claimed.pass_token) return exception('-50306');
  if (issued.gen_time !== claimed.gen_time) return exception('-50005');
  if (issued.verified) return exception('-50003');
  if (issued.expired) return failed('pass_token expire', lotNumber);
  challenges.markVerified(lotNumber);
  return passed(lotNumber);
}
