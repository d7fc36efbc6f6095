import type {
  CaptchaFailed,
  CaptchaIndeterminate,
  CaptchaIndeterminateCause,
  CaptchaPassed,
} from '../schema.generated.ts';
import type { DocumentedOutcome } from '../upstream/metrics.ts';
import { evidenceOfStatus, HEALTHY_PROBE, type ProbeResult } from '../upstream/probe.ts';
import { ABOUT_ID, type CaptchaResponse, causeOfException, type Exception, FAILURE_CATEGORIES } from './contract.ts';
import type { CaptchaSettings } from './settings.ts';

export type CaptchaVerdict =
  | (CaptchaPassed & { __typename: 'CaptchaPassed' })
  | (CaptchaFailed & { __typename: 'CaptchaFailed' })
  | (CaptchaIndeterminate & {
      __typename: 'CaptchaIndeterminate';
      /** Is the service down, as our own probes have confirmed, and does the allowance cover this captcha? */
      readonly isAllowed: boolean;
    });

/** A verification without a verdict, before the fail-open policy has decided. */
export interface NoVerdict extends Exception {
  readonly __typename: 'NoVerdict';
  readonly cause: CaptchaIndeterminateCause;
  /** Was there a 200 without a documented body? It may have been a rejection, so no policy lets the request proceed. */
  readonly isUnreadable: boolean;
}

export type Result = CaptchaVerdict | NoVerdict;

/**
 * Maps a response to a verdict. A pass that contradicts itself has the cause CLIENT, because a bot can provoke it. `isUnreadable`
 * marks a 200 that may be a rejection, because it is undocumented.
 *
 * A 5xx is an outage, unless its body is a rejection or an exception (7.2), with which a bot can provoke the cause CLIENT. The
 * document does not tell the status of an exception (7.3), so its code has the same cause beside a 200 and a 5xx.
 */
export function verdictOf(response: CaptchaResponse, status: number, lotNumber: string): Result {
  const mismatch = 'lot_number' in response ? mismatchOf(response.lot_number ?? lotNumber, lotNumber) : undefined;
  if (mismatch) return mismatch;
  switch (response.kind) {
    case 'rejection': {
      const { reason, details } = response;
      const category = FAILURE_CATEGORIES.get(reason) ?? 'OTHER';
      return failed(reason, category, { ...details, lotNumber: details.lotNumber ?? lotNumber });
    }
    case 'exception': {
      const cause = causeOfException(response.code ?? '');
      return noVerdict(isClientError(status) && cause !== 'CONFIGURATION' ? 'CLIENT' : cause, response);
    }
    case 'other': {
      const cause = response.unreadable !== undefined || isClientError(status) ? 'CLIENT' : 'TRANSPORT';
      return noVerdict(cause, { isUnreadable: status === 200 });
    }
    case 'flawed pass':
      return noVerdict(status < 500 ? 'CLIENT' : 'TRANSPORT', response);
    case 'pass':
      if (status !== 200) return noVerdict(status < 500 ? 'CLIENT' : 'TRANSPORT');
      return { __typename: 'CaptchaPassed', proceed: true, details: { ...response.details, lotNumber } };
  }
}

/** The verdict on an answer for another lot number; undefined for the right one. */
function mismatchOf(received: unknown, lotNumber: string): CaptchaVerdict | undefined {
  if (received === lotNumber) return undefined;
  const about = typeof received === 'string' ? received : 'something else than a text';
  return failed('the service answered for another lot_number', 'LOT_NUMBER_MISMATCH', { lotNumber: about });
}

/** A 4xx blames the request. A bot can provoke a firewall's 403 by the content of requests, and a 429 by their number. */
function isClientError(status: number): boolean {
  return status >= 400 && status < 500;
}

function failed(
  reason: string,
  category: CaptchaFailed['category'],
  details: CaptchaFailed['details'],
): CaptchaVerdict {
  return { __typename: 'CaptchaFailed', proceed: false, reason, category, details };
}

/** The evidence of a response to a probe about the account and the service (captcha document, section 7). */
export function probeResultOf(response: CaptchaResponse, status: number): ProbeResult {
  switch (response.kind) {
    case 'pass':
      return HEALTHY_PROBE;
    case 'flawed pass':
      return UNDOCUMENTED;
    case 'rejection':
      if (response.reason === 'illegal sign_token') return { evidence: 'refused', reason: response.reason };
      return response.isDocumented ? HEALTHY_PROBE : UNDOCUMENTED;
    case 'exception': {
      const code = response.code ?? '';
      // The risk type belongs to the challenge, not to the account.
      if (code === '-50001') return HEALTHY_PROBE;
      const cause = causeOfException(code);
      if (cause === 'CONFIGURATION') return { evidence: 'refused', reason: code };
      return cause === 'SERVICE' ? { evidence: 'failed', reason: `exception ${code}`.trim() } : HEALTHY_PROBE;
    }
    case 'other':
      return evidenceOfStatus(status, response.unreadable);
  }
}

/** The verdict of a response, with the evidence about the service, and the outcome of the call for the metrics. */
export function interpret(response: CaptchaResponse, status: number, lotNumber: string) {
  const result = verdictOf(response, status, lotNumber);
  return { result, evidence: callEvidenceOf(response, result, status), outcome: callOutcomeOf(response, result) };
}

/** The evidence of a call. Only a verdict shows that the service works: its edge may refuse calls while the service is down. */
function callEvidenceOf(response: CaptchaResponse, verdict: Result, status: number): ProbeResult['evidence'] {
  const { evidence } = probeResultOf(response, status);
  if (evidence === 'well') return verdict.__typename === 'NoVerdict' ? 'inconclusive' : 'well';
  return evidence === 'failed' && response.kind === 'exception' && isClientError(status) ? 'refused' : evidence;
}

/** Undefined for a response that is not as documented. */
function callOutcomeOf(response: CaptchaResponse, verdict: Result): DocumentedOutcome | undefined {
  if (verdict.__typename === 'CaptchaPassed') return 'ok';
  if (response.kind === 'exception')
    return causeOfException(response.code ?? '') === 'SERVICE' ? 'exception' : 'rejected';
  const isAboutIt = verdict.__typename === 'CaptchaFailed' && verdict.category !== 'LOT_NUMBER_MISMATCH';
  return response.kind === 'rejection' && response.isDocumented && isAboutIt ? 'rejected' : undefined;
}

/** A judgement in an undocumented form is no outage: it comes from the service, or from a firewall that imitates it. */
const UNDOCUMENTED: ProbeResult = { evidence: 'inconclusive', reason: 'an undocumented judgement' };

export function noVerdict(
  cause: CaptchaIndeterminateCause,
  { code = null, type = null, isUnreadable = false }: Partial<NoVerdict> = {},
): NoVerdict {
  return { __typename: 'NoVerdict', cause, code, type, isUnreadable };
}

interface FailOpen {
  /** With `faults` a request may proceed in an outage that our own probes have confirmed. `always` follows 7.3. */
  readonly policy: CaptchaSettings['captchaFailOpen'];
  /** Has the captcha id worked in this process? If not, every cause but CLIENT becomes CONFIGURATION. */
  readonly hasWorked: boolean;
  /** Are the captcha id and every alternative to it down? */
  readonly isDown: boolean;
  /** Takes a captcha from the allowance for an outage; false if the allowance is used up. */
  readonly takeAllowance: () => boolean;
}

/** The outcome without a verdict. No other function decides whether a request without a verdict may proceed. */
export function indeterminate(
  given: NoVerdict,
  { policy, hasWorked, isDown, takeAllowance }: FailOpen,
): CaptchaVerdict {
  const { code, type, isUnreadable } = given;
  const cause = given.cause !== 'CLIENT' && !hasWorked ? 'CONFIGURATION' : given.cause;
  // -50001 has the cause CONFIGURATION, too, but a bot can provoke it with its challenge.
  const isFault = cause !== 'CLIENT' && (cause !== 'CONFIGURATION' || ABOUT_ID.test(code ?? ''));
  const isOutage = policy !== 'never' && hasWorked && isFault && isDown && !isUnreadable;
  const isAllowed = isOutage && takeAllowance();
  const proceed = policy === 'always' ? !isUnreadable : isAllowed;
  const advice = isOutage ? LIMIT_REACHED : ADVICE[cause];
  const message = isAllowed ? MESSAGES[cause] : `${MESSAGES[cause]} ${proceed ? BY_POLICY : advice}`;
  return { __typename: 'CaptchaIndeterminate', proceed, cause, code, type, message, isAllowed };
}

const MESSAGES: Readonly<Record<CaptchaIndeterminateCause, string>> = {
  CLIENT:
    'The captcha service does not confirm this challenge: its values were used before, have expired, or are not what the widget gave, there were too many requests, or the response contradicts itself.',
  CONFIGURATION: 'The captcha service does not accept the captcha id, or cannot be reached as configured.',
  SERVICE: 'The captcha service failed while it verified the challenge. Nothing is known about the person.',
  TRANSPORT: 'The captcha service gave no usable answer. Nothing is known about the person.',
};
const BY_POLICY = 'The request may proceed by policy alone, without an attestation.';
const TRY_AGAIN = 'Let the person try again in a minute.';
const LIMIT_REACHED = `The limit for the outage is reached. ${TRY_AGAIN}`;
const ADVICE: Readonly<Record<CaptchaIndeterminateCause, string>> = {
  CLIENT: 'Let the person solve a new challenge.',
  CONFIGURATION: 'The operator of this subgraph has to check its configuration.',
  SERVICE: TRY_AGAIN,
  TRANSPORT: TRY_AGAIN,
};
