import { createHmac, timingSafeEqual } from 'node:crypto';
import { EXCEPTIONS } from '../captcha/contract.ts';
import { findCaptcha, type SandboxCaptcha, type SandboxRegion } from './accounts.ts';
import type { Challenge, ChallengeStore } from './challenges.ts';
import { type Answer, mediaType } from './http.ts';
import { exception, failed, passed } from './verdicts.ts';

/** A verification as it came over HTTP. */
interface ValidationRequest {
  /** Region of the node that was asked. */
  readonly region: SandboxRegion;
  readonly method: 'GET' | 'POST';
  readonly contentType: string | undefined;
  readonly query: URLSearchParams;
  /** The body, or undefined when it is too long. */
  readonly body: Buffer | undefined;
}

const LOT_NUMBER = /^[0-9a-f]{32}$/;
const FORCED_LOT_NUMBER = /^sandbox:(?:fail:(?<reason>.+)|exception:(?<code>-\d+))$/s;

/** Issues a solved challenge, or says what stands against the captcha id, as a verification would. */
export function answerIssue(region: SandboxRegion, query: URLSearchParams, challenges: ChallengeStore): Answer {
  const captcha = findCaptcha(query.get('captcha_id') ?? '', region);
  if (typeof captcha === 'string') return exception(captcha);
  return { status: 200, body: { captcha_id: captcha.captchaId, ...challenges.issue(captcha.captchaId) } };
}

/**
 * Verifies a challenge (captcha document, 4). The order of the checks is a choice, written down in README.md: the
 * configuration, the form, each parameter, the signature, and the challenge last, so that nothing is learned about it
 * without the key. Only a pass consumes it.
 */
export function answerValidation(request: ValidationRequest, challenges: ChallengeStore): Answer {
  if (!request.body) return exception('-50000', 413);
  const form = formOf(request, request.body);
  const captcha = captchaOf(request, form);
  if (typeof captcha === 'string') return exception(captcha);
  // The document names a wrong format as the typical cause of -50005 (4, rule 2).
  if (!form) return exception('-50005');

  const challenge = challengeOf(form);
  const flaw = flawIn(challenge);
  if (flaw !== undefined) return exception(flaw);
  if (!isSignature(form.get('sign_token') ?? '', challenge.lot_number, captcha.captchaKey)) {
    return failed('illegal sign_token', challenge.lot_number);
  }
  return forcedOutcome(challenge.lot_number) ?? verify(challenge, captcha.captchaId, challenges);
}

/** The parameters: a POST's form, a GET's query; undefined when a POST brings no form data. */
function formOf({ method, contentType, query }: ValidationRequest, body: Buffer): URLSearchParams | undefined {
  if (method === 'GET') return query;
  return mediaType(contentType) === 'application/x-www-form-urlencoded'
    ? new URLSearchParams(body.toString())
    : undefined;
}

/** The configuration that the URL or the form names; if both name one they must agree. */
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

/** The exception of the first parameter that is missing or ill-formed; undefined when all are in order. */
function flawIn({ lot_number, captcha_output, pass_token, gen_time }: Challenge): string | undefined {
  if (!/^[0-9]+$/.test(gen_time)) return '-50005';
  if (lot_number === '') return '-50302';
  if (!LOT_NUMBER.test(lot_number) && !forcedOutcome(lot_number)) return '-50303';
  if (captcha_output === '') return '-50002';
  if (pass_token === '') return '-50306';
  return undefined;
}

/** The outcome that a lot number asks for in plain text; undefined when it asks for none that exists. */
function forcedOutcome(lotNumber: string): Answer | undefined {
  const { reason, code } = FORCED_LOT_NUMBER.exec(lotNumber)?.groups ?? {};
  if (reason !== undefined) return failed(reason, lotNumber);
  return code !== undefined && EXCEPTIONS.has(code) ? exception(code) : undefined;
}

/** Is this the lower-case hexadecimal HMAC-SHA256 of the lot number under the key (section 5)? */
function isSignature(signToken: string, lotNumber: string, captchaKey: string): boolean {
  const expected = Buffer.from(createHmac('sha256', captchaKey).update(lotNumber).digest('hex'));
  const actual = Buffer.from(signToken);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Compares the values with the challenge that was issued, and consumes it if it passes. */
function verify(claimed: Challenge, captchaId: string, challenges: ChallengeStore): Answer {
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
