import type { z } from 'zod';
import type {
  CaptchaFailed,
  CaptchaIndeterminate,
  CaptchaIndeterminateCause,
  CaptchaPassed,
} from '../schema.generated.ts';
import type { UpstreamAnswer } from '../upstream/transport.ts';
import {
  EXCEPTIONS,
  exceptionAnswer,
  FAILURE_CATEGORIES,
  failedAnswer,
  judgedChallenge,
  passedAnswer,
  saysNo,
} from './contract.ts';

/** What to do when the service gives no verdict: `faults` proceeds on all but what a caller can bring about. */
export type FailOpenPolicy = 'faults' | 'always' | 'never';

/** What `proceed` follows when there is no verdict. */
interface FailOpen {
  readonly policy: FailOpenPolicy;
  /** Is this the captcha id that serves when a caller names none? Any other one is the caller's choice. */
  readonly isDefaultId: boolean;
}

/** The three outcomes of a verification. */
export type CaptchaVerdict =
  | (CaptchaPassed & { __typename: 'CaptchaPassed' })
  | (CaptchaFailed & { __typename: 'CaptchaFailed' })
  | (CaptchaIndeterminate & { __typename: 'CaptchaIndeterminate' });

/**
 * Reads an answer of the captcha service. A "no" counts whatever the HTTP status, its spelling and the rest of it; a
 * pass counts only as exactly the documented one, with status 200 and for the lot number that was asked about. So no
 * outcome is better than what the service said.
 */
export function toVerdict(answer: UpstreamAnswer, lotNumber: string, failOpen: FailOpen): CaptchaVerdict {
  const { status, json } = answer;
  const body = bodyOf(answer);
  const failed = failureIn(body);
  if (failed) return toFailed(failed, lotNumber);

  const exception = exceptionIn(body);
  if (exception) {
    const { code = null, desc } = exception;
    const said = EXCEPTIONS.get(code ?? '')?.cause ?? 'SERVICE';
    const cause = said === 'SERVICE' && isRefusal(status) ? 'CLIENT' : said;
    return indeterminate(cause, failOpen, code, desc.type ?? null);
  }

  const judged = judgedChallenge.safeParse(body);
  const judgedLot = judged.data?.captcha_args.lot_number ?? lotNumber;
  if (judgedLot !== lotNumber) {
    return {
      __typename: 'CaptchaFailed',
      proceed: false,
      reason: 'the service answered for another lot_number',
      category: 'LOT_NUMBER_MISMATCH',
      details: { lotNumber: typeof judgedLot === 'string' ? judgedLot : JSON.stringify(judgedLot) },
    };
  }

  const passed = passedAnswer.safeParse(json);
  if (status !== 200 || !passed.success) return indeterminate(isRefusal(status) ? 'CLIENT' : 'TRANSPORT', failOpen);
  const { used_type: usedType, user_ip: userIp, scene, referer } = passed.data.captcha_args;
  return {
    __typename: 'CaptchaPassed',
    proceed: true,
    details: { usedType, userIp, lotNumber, scene, referer },
  };
}

/**
 * Does the status blame the request? All that differs between our requests is what the caller sent, and how often, so a
 * firewall's 403 or a rate limit's 429 can be provoked at will.
 */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}

/**
 * Does an answer say that the service itself is unwell? Not what a caller can bring about, even under a 5xx, be it by
 * values used twice or by naming a captcha id that is paused: a bot that could open the circuit breaker could have its
 * requests proceed.
 */
export function isCaptchaFault(answer: UpstreamAnswer): boolean {
  const body = bodyOf(answer);
  if (answer.status < 500 || failureIn(body)) return false;
  const documented = EXCEPTIONS.get(exceptionIn(body)?.code ?? '');
  return documented === undefined || documented.cause === 'SERVICE';
}

/** What counts for anything but a pass: a "no" does, in whatever letters the rest of it is written. */
function bodyOf({ json, mangledJson }: UpstreamAnswer): unknown {
  return json ?? mangledJson;
}

// What is plainly something else is not parsed: to say all that is wrong with it costs more than the whole call.

function failureIn(json: unknown) {
  return saysNo(Object(json).result) ? failedAnswer.safeParse(json).data : undefined;
}

function exceptionIn(json: unknown) {
  const { status, code } = Object(json);
  return status === 'error' || code !== undefined ? exceptionAnswer.safeParse(json).data : undefined;
}

/** The outcome when there is no verdict; `proceed` follows the policy. */
export function indeterminate(
  cause: CaptchaIndeterminateCause,
  failOpen: FailOpen,
  code: string | null = null,
  type: string | null = null,
): CaptchaVerdict {
  const proceed = mayProceed(cause, failOpen);
  return { __typename: 'CaptchaIndeterminate', proceed, cause, code, type, message: MESSAGES[cause] };
}

function mayProceed(cause: CaptchaIndeterminateCause, { policy, isDefaultId }: FailOpen): boolean {
  if (policy !== 'faults') return policy === 'always';
  // Otherwise a bot could name an id that is paused or deleted, and walk past the challenge of every other one.
  return cause === 'CONFIGURATION' ? isDefaultId : cause !== 'CLIENT';
}

const MESSAGES: Readonly<Record<CaptchaIndeterminateCause, string>> = {
  CLIENT:
    'The captcha service does not take this request: its values were used before, have expired, or are not what the widget gave, or there were too many. Let the person solve a new challenge.',
  CONFIGURATION:
    'The captcha service does not accept the captcha id. The operator of this subgraph has to check its configuration.',
  SERVICE: 'The captcha service failed while it verified the challenge. Nothing is known about the person.',
  TRANSPORT: 'The captcha service gave no usable answer. Nothing is known about the person.',
};

function toFailed({ reason, captcha_args }: z.infer<typeof failedAnswer>, lotNumber: string): CaptchaVerdict {
  return {
    __typename: 'CaptchaFailed',
    proceed: false,
    reason,
    category: FAILURE_CATEGORIES.get(reason) ?? 'OTHER',
    details: {
      usedType: captcha_args.used_type ?? null,
      userIp: captcha_args.user_ip ?? null,
      lotNumber: captcha_args.lot_number ?? lotNumber,
    },
  };
}

/** Why a verification did not pass; empty if it did. */
export function causeOf(verdict: CaptchaVerdict): string {
  if (verdict.__typename === 'CaptchaPassed') return '';
  return verdict.__typename === 'CaptchaFailed' ? verdict.category : verdict.cause;
}
