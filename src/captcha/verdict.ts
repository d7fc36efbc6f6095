import type { z } from 'zod';
import type {
  CaptchaFailed,
  CaptchaIndeterminate,
  CaptchaIndeterminateCause,
  CaptchaPassed,
} from '../schema.generated.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import {
  EXCEPTIONS,
  exceptionBody,
  FAILURE_CATEGORIES,
  failBody,
  isFailResult,
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
 * Reads a response of the captcha service. A failure counts whatever the HTTP status, the spelling and the other fields
 * are. A pass counts only exactly as documented, with status 200 and for the lot number of the request. So a verdict is
 * never better than the response.
 */
export function toVerdict(response: UpstreamResponse, lotNumber: string, failOpen: FailOpen): CaptchaVerdict {
  const { status, json } = response;
  const body = lenientBody(response);
  const failure = readFailure(body);
  if (failure) return toFailed(failure, lotNumber);

  const exception = readException(body);
  if (exception) {
    const { code = null, desc } = exception;
    const documentedCause = EXCEPTIONS.get(code ?? '')?.cause ?? 'SERVICE';
    const cause = documentedCause === 'SERVICE' && isClientError(status) ? 'CLIENT' : documentedCause;
    return indeterminate(cause, failOpen, code, desc.type ?? null);
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
  if (status !== 200 || !pass.success) return indeterminate(isClientError(status) ? 'CLIENT' : 'TRANSPORT', failOpen);
  const { used_type: usedType, user_ip: userIp, scene, referer } = pass.data.captcha_args;
  return {
    __typename: 'CaptchaPassed',
    proceed: true,
    details: { usedType, userIp, lotNumber, scene, referer },
  };
}

/**
 * Does the status blame the request? Our requests differ only in what the client sent, and how often, so a bot can
 * provoke a firewall's 403 or a rate limit's 429 at will.
 */
function isClientError(status: number): boolean {
  return status >= 400 && status < 500;
}

/**
 * Does this response show that the service itself has failed? What a client can provoke does not count, even with a
 * 5xx: values that are used twice, or the id of a captcha that is paused. Otherwise a bot could open the circuit
 * breaker, and have its requests proceed.
 */
export function isCaptchaFault(response: UpstreamResponse): boolean {
  const body = lenientBody(response);
  if (response.status < 500 || readFailure(body)) return false;
  const documented = EXCEPTIONS.get(readException(body)?.code ?? '');
  return documented === undefined || documented.cause === 'SERVICE';
}

/** The body, even if it is not UTF-8. Everything except a pass is read from it. */
function lenientBody({ json, lossyJson }: UpstreamResponse): unknown {
  return json ?? lossyJson;
}

// Both functions look at one or two fields before they parse, because a parse that fails costs more than the whole call.

function readFailure(body: unknown) {
  return isFailResult(Object(body).result) ? failBody.safeParse(body).data : undefined;
}

function readException(body: unknown) {
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
    'The captcha service does not take this request: its values were used before, have expired, or are not what the widget gave, or there were too many. Let the person solve a new challenge.',
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
