import type { z } from 'zod';
import type {
  CaptchaFailed,
  CaptchaIndeterminate,
  CaptchaIndeterminateCause,
  CaptchaPassed,
} from '../schema.generated.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import {
  causeOfException,
  exceptionBody,
  FAILURE_CATEGORIES,
  failBody,
  isJudgement,
  isRejection,
  lotNumberBody,
  passBody,
} from './contract.ts';

/** When a request may proceed without a verdict. With `faults` it may, unless a client can provoke that at will. */
export type FailOpenPolicy = 'faults' | 'always' | 'never';

/** What decides `proceed` when there is no verdict. */
interface FailOpen {
  readonly policy: FailOpenPolicy;
  /** Is this the captcha id of requests that name none? Any other one is the caller's choice. */
  readonly isDefaultId: boolean;
}

/** The three outcomes of a verification. */
export type CaptchaVerdict =
  | (CaptchaPassed & { __typename: 'CaptchaPassed' })
  | (CaptchaFailed & { __typename: 'CaptchaFailed' })
  | (CaptchaIndeterminate & { __typename: 'CaptchaIndeterminate' });

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
 */
export function toVerdict(response: UpstreamResponse, lotNumber: string, failOpen: FailOpen): CaptchaVerdict {
  const { status, json } = response;
  const body = lenientBody(response);
  const rejection = readRejection(body);
  if (rejection) return toFailed(rejection, lotNumber);

  const exception = readException(body);
  if (exception) {
    const { code = null, desc } = exception;
    return indeterminate(causeOfNoVerdict(status, body, exception), failOpen, code, desc.type ?? null);
  }

  const receivedLotNumber = lotNumberBody.safeParse(body).data?.captcha_args.lot_number ?? lotNumber;
  if (receivedLotNumber !== lotNumber) {
    return {
      __typename: 'CaptchaFailed',
      proceed: false,
      reason: 'the service answered for another lot_number',
      category: 'LOT_NUMBER_MISMATCH',
      details: {
        lotNumber: typeof receivedLotNumber === 'string' ? receivedLotNumber : JSON.stringify(receivedLotNumber),
      },
    };
  }

  const pass = passBody.safeParse(json);
  if (status !== 200 || !pass.success) return indeterminate(causeOfNoVerdict(status, body), failOpen);
  const { used_type: usedType, user_ip: userIp, scene, referer } = pass.data.captcha_args;
  return {
    __typename: 'CaptchaPassed',
    proceed: true,
    details: { usedType, userIp, lotNumber, scene, referer },
  };
}

type Exception = z.infer<typeof exceptionBody>;

/** Who can have caused a response that is neither a pass nor a rejection. */
function causeOfNoVerdict(status: number, body: unknown, exception?: Exception): CaptchaIndeterminateCause {
  if (isJudgement(body)) return 'CLIENT';
  const cause = exception ? causeOfException(exception.code ?? '') : 'TRANSPORT';
  // A 4xx blames the request. Our requests differ only in what the client sent, and how often, so a bot can provoke a
  // firewall's 403 or a rate limit's 429 at will.
  return status >= 400 && status < 500 && cause !== 'CONFIGURATION' ? 'CLIENT' : cause;
}

/**
 * Does this response show that the service itself has failed? What a client can provoke does not count, even with a
 * 5xx: values that are used twice, or the id of a captcha that is paused. Otherwise a bot could open the circuit
 * breaker, and have its requests proceed.
 */
export function isCaptchaFault(response: UpstreamResponse): boolean {
  const body = lenientBody(response);
  if (response.status < 500 || isRejection(body)) return false;
  const cause = causeOfNoVerdict(response.status, body, readException(body));
  return cause === 'SERVICE' || cause === 'TRANSPORT';
}

/** The body, even if it is not JSON in UTF-8. Everything except a pass is read from it. */
function lenientBody({ json, lossyJson }: UpstreamResponse): unknown {
  return json ?? lossyJson;
}

// Both functions look at a few fields before they parse, because a parse that fails costs more than the whole call.

function readRejection(body: unknown) {
  return isRejection(body) ? failBody.safeParse(body).data : undefined;
}

function readException(body: unknown): Exception | undefined {
  const { status, code } = Object(body);
  return status === 'error' || code !== undefined ? exceptionBody.safeParse(body).data : undefined;
}

/** The outcome without a verdict; `proceed` follows the policy. */
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
  // Otherwise a bot could name an id that is paused or deleted, and so avoid the challenge of every other id.
  return cause === 'CONFIGURATION' ? isDefaultId : cause !== 'CLIENT';
}

const MESSAGES: Readonly<Record<CaptchaIndeterminateCause, string>> = {
  CLIENT:
    'The captcha service does not confirm this challenge: its values were used before, have expired, or are not what the widget gave, there were too many requests, or the response is not quite as documented. Let the person solve a new challenge.',
  CONFIGURATION:
    'The captcha service does not accept the captcha id. The operator of this subgraph has to check its configuration.',
  SERVICE: 'The captcha service failed while it verified the challenge. Nothing is known about the person.',
  TRANSPORT: 'The captcha service gave no usable answer. Nothing is known about the person.',
};

function toFailed({ reason, captcha_args }: z.infer<typeof failBody>, lotNumber: string): CaptchaVerdict {
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
