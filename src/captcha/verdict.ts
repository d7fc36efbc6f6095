import type {
  CaptchaFailed,
  CaptchaIndeterminate,
  CaptchaIndeterminateCause,
  CaptchaPassed,
} from '../schema.generated.ts';
import { judgeStatus, type ProbeResult, WELL } from '../upstream/probe.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import {
  causeOfException,
  claimsPass,
  type Exception,
  FAILURE_CATEGORIES,
  isDocumentedRejection,
  passBody,
  readException,
  readRejection,
} from './contract.ts';

/** The three outcomes of a verification. */
export type CaptchaVerdict =
  | (CaptchaPassed & { __typename: 'CaptchaPassed' })
  | (CaptchaFailed & { __typename: 'CaptchaFailed' })
  | (CaptchaIndeterminate & {
      __typename: 'CaptchaIndeterminate';
      /** Is the service down, as our own probes have confirmed, and has the allowance for an outage room for this one? */
      readonly isAllowed: boolean;
    });

/** A verification without a verdict, before anyone has decided whether the request may proceed. */
export interface NoVerdict extends Exception {
  readonly __typename: 'NoVerdict';
  readonly cause: CaptchaIndeterminateCause;
  /** Was there an answer that cannot be read? It may have been a rejection, so it proceeds under no policy. */
  readonly isUnreadable: boolean;
}

/**
 * Reads a response of the captcha service. A pass counts only exactly as documented, with status 200 and for the lot
 * number of the request. A rejection counts whatever the HTTP status, the spelling and the other fields are. So a verdict
 * is never better than the response.
 *
 * A judgement that is neither a pass nor a rejection, such as a pass without a referer or with another status, is no
 * verdict. Its cause is CLIENT, so that it does not proceed unless the policy is `always`:
 * - A bot can spoil its own pass, because its browser reports the referer, the scene and how the challenge was solved.
 * - A proxy may change a long response, and a bot can make a response long.
 * - When the service changes the form of its passes, it has rejected nobody. CaptchaFailed would say so, and no policy
 *   could let people through until this subgraph knows the new form. The log names the fields that differ.
 *
 * An answer in another form than JSON may be a rejection, and so may anything with status 200 that is none of the documented
 * answers. Another status with such a body is the error page of a proxy.
 */
export function readVerdict(response: UpstreamResponse, lotNumber: string): CaptchaVerdict | NoVerdict {
  const { status, json: body, unreadable } = response;
  if (unreadable !== undefined) return noVerdict('CLIENT', { isUnreadable: true });
  const rejection = readRejection(body);
  if (rejection) {
    const { reason, usedType, userIp } = rejection;
    const category = FAILURE_CATEGORIES.get(reason) ?? 'OTHER';
    const details = { usedType, userIp, lotNumber: rejection.lotNumber ?? lotNumber };
    return { __typename: 'CaptchaFailed', proceed: false, reason, category, details };
  }
  const exception = readException(body);
  if (exception) return noVerdict(causeOf(status, body, exception), exception);

  const received: unknown = Object(Object(body).captcha_args).lot_number ?? lotNumber;
  if (received !== lotNumber) {
    return {
      __typename: 'CaptchaFailed',
      proceed: false,
      reason: 'the service answered for another lot_number',
      category: 'LOT_NUMBER_MISMATCH',
      details: { lotNumber: typeof received === 'string' ? received : 'something else than a text' },
    };
  }
  const pass = passBody.safeParse(body);
  if (status !== 200 || !pass.success) {
    return noVerdict(causeOf(status, body), { isUnreadable: status === 200 && !claimsPass(body) });
  }
  const { used_type: usedType, user_ip: userIp, scene, referer } = pass.data.captcha_args;
  const details = { usedType, userIp, lotNumber, scene, referer };
  return { __typename: 'CaptchaPassed', proceed: true, details };
}

/** Who can have caused a response that is neither a pass nor a rejection. */
function causeOf(status: number, body: unknown, exception?: Exception): CaptchaIndeterminateCause {
  if (claimsPass(body)) return 'CLIENT';
  const cause = exception ? causeOfException(exception.code ?? '') : 'TRANSPORT';
  // A 4xx blames the request. Our requests differ only in what the client sent, and how often, so a bot can provoke a
  // firewall's 403 or a rate limit's 429 at will.
  return status >= 400 && status < 500 && cause !== 'CONFIGURATION' ? 'CLIENT' : cause;
}

/** What an answer shows about the account and the service, whoever has asked (captcha document, section 7). */
export function judgeCaptcha({ status, json: body, unreadable }: UpstreamResponse): ProbeResult {
  // The service is not down, but nobody can tell what it says.
  if (unreadable !== undefined && status < 500) return { kind: 'inconclusive', reason: unreadable };
  const rejection = readRejection(body);
  if (rejection?.reason === 'illegal sign_token') return { kind: 'refused', reason: 'illegal sign_token' };
  if (isDocumentedRejection(body) || passBody.safeParse(body).success) return WELL;
  // A judgement in another form comes from the service, or from a firewall that imitates one. It is no outage.
  if (rejection || claimsPass(body)) return { kind: 'inconclusive', reason: 'an undocumented judgement' };
  const exception = readException(body);
  if (!exception) return judgeStatus(status);
  const code = exception.code ?? '';
  // The risk type belongs to the challenge, not to the account.
  if (code === '-50001') return WELL;
  const cause = causeOfException(code);
  if (cause === 'CONFIGURATION') return { kind: 'refused', reason: code };
  return cause === 'SERVICE' ? { kind: 'failed', reason: `exception ${code}`.trim() } : WELL;
}

/** A verification that ended without a verdict. */
export function noVerdict(
  cause: CaptchaIndeterminateCause,
  { code = null, type = null, isUnreadable = false }: Partial<NoVerdict> = {},
): NoVerdict {
  return { __typename: 'NoVerdict', cause, code, type, isUnreadable };
}

/** When a request may proceed without a verdict. With `faults` it may in an outage that our own probes have confirmed. */
export type FailOpenPolicy = 'faults' | 'always' | 'never';

/** What decides `proceed` when there is no verdict. */
interface FailOpen {
  readonly policy: FailOpenPolicy;
  /** Has the captcha id worked in this process? One that never did is wrongly configured, whatever its failures look like. */
  readonly hasWorked: boolean;
  /** Is the captcha id down, and so is every other one that a person could use instead? */
  readonly isDown: boolean;
  /** Takes one of those that may proceed in an outage. False if none is left. */
  readonly takeAllowance: () => boolean;
}

/** The outcome without a verdict. Nothing else decides whether such a request may proceed. */
export function indeterminate(
  given: NoVerdict,
  { policy, hasWorked, isDown, takeAllowance }: FailOpen,
): CaptchaVerdict {
  const { code, type, isUnreadable } = given;
  const cause = given.cause !== 'CLIENT' && !hasWorked ? 'CONFIGURATION' : given.cause;
  const isFault = cause === 'SERVICE' || cause === 'TRANSPORT';
  const isOutage = policy !== 'never' && isFault && isDown && !isUnreadable;
  const isAllowed = isOutage && takeAllowance();
  const proceed = policy === 'always' ? !isUnreadable : isAllowed;
  const advice = cause === 'CONFIGURATION' ? ASK_OPERATOR : isOutage ? TRY_AGAIN : NEW_CHALLENGE;
  const message = isAllowed ? MESSAGES[cause] : `${MESSAGES[cause]} ${proceed ? BY_POLICY : advice}`;
  return { __typename: 'CaptchaIndeterminate', proceed, cause, code, type, message, isAllowed };
}

const MESSAGES: Readonly<Record<CaptchaIndeterminateCause, string>> = {
  CLIENT:
    'The captcha service does not confirm this challenge: its values were used before, have expired, or are not what the widget gave, there were too many requests, or the response is not quite as documented.',
  CONFIGURATION: 'The captcha service does not accept the captcha id, or cannot be reached as configured.',
  SERVICE: 'The captcha service failed while it verified the challenge. Nothing is known about the person.',
  TRANSPORT: 'The captcha service gave no usable answer. Nothing is known about the person.',
};
const BY_POLICY = 'The request may proceed by policy alone, without an attestation.';
const NEW_CHALLENGE = 'Let the person solve a new challenge.';
const TRY_AGAIN = 'As many as may proceed while it is down have done so. Let the person try again in a minute.';
const ASK_OPERATOR = 'The operator of this subgraph has to check its configuration.';
