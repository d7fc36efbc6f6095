import type { DeviceTrustError } from '../errors.ts';
import type {
  CaptchaFailed,
  CaptchaFailureCategory,
  CaptchaIndeterminate,
  CaptchaIndeterminateCause,
  CaptchaPassed,
} from '../schema.generated.ts';
import type { Evidence } from '../upstream/health-table.ts';
import type { DocumentedOutcome } from '../upstream/metrics.ts';
import { evidenceOfStatus } from '../upstream/probe.ts';
import { type CaptchaResponse, type Exception, FAILURE_CATEGORIES, type ResponseKind } from './contract.ts';
import type { CaptchaSettings } from './settings.ts';

export type CaptchaVerdict =
  | (CaptchaPassed & { __typename: 'CaptchaPassed' })
  | (CaptchaFailed & { __typename: 'CaptchaFailed' })
  | (CaptchaIndeterminate & {
      __typename: 'CaptchaIndeterminate';
      /** Is the service down, as our own probes have confirmed, and does the allowance cover this captcha? */
      readonly isAllowed: boolean;
    });

/** When a request without a verdict may proceed: in an outage that our probes have confirmed, and because of the policy `always`. */
interface Proceeding {
  readonly inOutage: boolean;
  readonly byPolicy: boolean;
}

/** It may be a rejection that nobody can read. */
const NEVER: Proceeding = { inOutage: false, byPolicy: false };
/** A client can provoke it, or our configuration is wrong. */
const BY_POLICY: Proceeding = { inOutage: false, byPolicy: true };
const IN_OUTAGE: Proceeding = { inOutage: true, byPolicy: true };

/** A verification without a verdict, before the fail-open policy has decided. */
export interface NoVerdict extends Exception, Proceeding {
  readonly __typename: 'NoVerdict';
  readonly cause: CaptchaIndeterminateCause;
}

export type Result = CaptchaVerdict | NoVerdict;

/** What a response means: to the caller, to the health of the captcha id, and for the metrics. */
interface Row {
  readonly verdict: 'CaptchaPassed' | 'CaptchaFailed' | CaptchaIndeterminateCause;
  /** Undefined if the HTTP status decides. */
  readonly evidence: Evidence | undefined;
  /** Undefined for a response that is not as documented. */
  readonly outcome: DocumentedOutcome | undefined;
  readonly proceeding: Proceeding;
}

type StatusClass = '200' | '4xx' | '5xx' | 'other';

const row = (
  verdict: Row['verdict'],
  evidence?: Evidence,
  outcome?: DocumentedOutcome,
  proceeding = BY_POLICY,
): Row => ({ verdict, evidence, outcome, proceeding });

/** The cells of a row. What is not given is as with a 200. */
const cells = (with200: Row, with4xx = with200, with5xx = with200, other = with200) => ({
  '200': with200,
  '4xx': with4xx,
  '5xx': with5xx,
  other,
});

const ODD_PASS = row('CLIENT', 'answered');
const FLAWED = row('CLIENT', 'inconclusive');
const DOWN = row('TRANSPORT', undefined, undefined, IN_OUTAGE);
const UNREADABLE = row('TRANSPORT', undefined, undefined, NEVER);
const JUDGED_5XX = row('TRANSPORT', 'inconclusive', undefined, IN_OUTAGE);

/**
 * The meaning of each kind of response with each class of HTTP status. No other place interprets a response.
 *
 * A 4xx blames the request: a bot can provoke a firewall's 403 by the content of requests, and a 429 by their number. A 5xx is an
 * outage, unless its body is a rejection or an exception with which a bot can provoke the cause CLIENT. The document does not give
 * the status of an exception (7.3), so a code has the same cause beside a 200 and a 5xx.
 */
export const TABLE: Readonly<Record<ResponseKind, Readonly<Record<StatusClass, Row>>>> = {
  pass: cells(row('CaptchaPassed', 'well', 'ok'), ODD_PASS, JUDGED_5XX, ODD_PASS),
  'other lot number': cells(row('CaptchaFailed', 'inconclusive')),
  // A bot can provoke a pass that contradicts itself.
  'flawed pass': cells(FLAWED, FLAWED, JUDGED_5XX),
  // An edge may reject what is old or malformed while the service is down.
  rejection: cells(row('CaptchaFailed', 'answered', 'rejected')),
  'illegal signature': cells(row('CaptchaFailed', 'refused', 'rejected')),
  // It is no outage: it comes from the service, or from a firewall that imitates it.
  'undocumented rejection': cells(row('CaptchaFailed', 'inconclusive')),
  'unknown captcha id': cells(row('CONFIGURATION', 'unknown_account', 'rejected', IN_OUTAGE)),
  'withdrawn captcha id': cells(row('CONFIGURATION', 'withdrawn', 'rejected', IN_OUTAGE)),
  'exception of the captcha id': cells(row('CONFIGURATION', 'undocumented_refusal', 'rejected')),
  // A bot can choose the risk type with its challenge.
  'exception of the risk type': cells(row('CONFIGURATION', 'answered', 'rejected')),
  'exception of the client': cells(row('CLIENT', 'answered', 'rejected')),
  'exception of the service': cells(
    row('SERVICE', 'failed', 'exception', IN_OUTAGE),
    row('CLIENT', undefined, 'exception'),
  ),
  'unknown exception': cells(row('SERVICE', undefined, 'exception', IN_OUTAGE), row('CLIENT', undefined, 'exception')),
  'nothing documented': cells(UNREADABLE, row('CLIENT'), DOWN, UNREADABLE),
};

/** The verdict of a response, the evidence with its reason for the log, and the outcome of the call for the metrics. */
export function interpret(response: CaptchaResponse, status: number, lotNumber = '') {
  const meaning = TABLE[response.kind][classOf(status)];
  const { evidence = evidenceOfStatus(status), outcome } = meaning;
  return { result: resultOf(response, meaning, lotNumber), evidence, reason: reasonOf(response, status), outcome };
}

function classOf(status: number): StatusClass {
  if (status === 200) return '200';
  if (status >= 400 && status < 500) return '4xx';
  return status >= 500 ? '5xx' : 'other';
}

function resultOf(response: CaptchaResponse, { verdict, proceeding }: Row, lotNumber: string): Result {
  const { kind, reason, details, code, type } = response;
  const { lotNumber: about } = details;
  if (verdict === 'CaptchaPassed') return { __typename: verdict, proceed: true, details: { ...details, lotNumber } };
  if (verdict !== 'CaptchaFailed') return { __typename: 'NoVerdict', cause: verdict, code, type, ...proceeding };
  if (kind === 'other lot number') {
    const other = { lotNumber: about ?? 'something else than a text' };
    return failed('the service answered for another lot_number', 'LOT_NUMBER_MISMATCH', other);
  }
  const category = FAILURE_CATEGORIES.get(reason) ?? 'OTHER';
  return failed(reason, category, { ...details, lotNumber: about ?? lotNumber });
}

function failed(reason: string, category: CaptchaFailureCategory, details: CaptchaFailed['details']): CaptchaVerdict {
  return { __typename: 'CaptchaFailed', proceed: false, reason, category, details };
}

/** The reason of evidence, for the log: the service's own code, or the kind of its response. */
function reasonOf({ kind, code }: CaptchaResponse, status: number): string {
  if (kind === 'illegal signature') return 'illegal sign_token';
  if (kind === 'exception of the service' || kind === 'unknown exception') return `exception ${code ?? ''}`.trim();
  if (code !== null) return code;
  return kind === 'nothing documented' && status !== 200 ? `HTTP status ${status}` : kind;
}

/** The result of a call without a response. The pause after a 429 has the cause CLIENT, because a bot can provoke 429s. */
export function noResponse({ code, why }: Pick<DeviceTrustError, 'code' | 'why'>): NoVerdict {
  const nothing = { __typename: 'NoVerdict', code: null, type: null } as const;
  if (why === 'pause') return { ...nothing, cause: 'CLIENT', ...BY_POLICY };
  if (why === 'unreadable') return { ...nothing, cause: 'TRANSPORT', ...NEVER };
  if (code === 'UPSTREAM_REJECTED') return { ...nothing, cause: 'CONFIGURATION', ...BY_POLICY };
  // The head of a 200 announces an answer. Only a confirmed outage shows that there is none.
  return { ...nothing, cause: 'TRANSPORT', ...IN_OUTAGE, byPolicy: why !== 'bodiless' };
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
  { cause: given, code, type, inOutage, byPolicy }: NoVerdict,
  { policy, hasWorked, isDown, takeAllowance }: FailOpen,
): CaptchaVerdict {
  const isUnproven = given !== 'CLIENT' && !hasWorked;
  const cause = isUnproven ? 'CONFIGURATION' : given;
  const isOutage = policy !== 'never' && hasWorked && inOutage && isDown;
  const isAllowed = isOutage && takeAllowance();
  const proceed = isAllowed || (policy === 'always' && byPolicy);
  const what = isUnproven ? UNPROVEN : MESSAGES[cause];
  const advice = isOutage ? LIMIT_REACHED : ADVICE[cause];
  const message = isAllowed ? what : `${what} ${proceed ? BY_POLICY_ALONE : advice}`;
  return { __typename: 'CaptchaIndeterminate', proceed, cause, code, type, message, isAllowed };
}

const MESSAGES: Readonly<Record<CaptchaIndeterminateCause, string>> = {
  CLIENT:
    'The captcha service does not confirm this challenge: its values were used before, have expired, or are not what the widget gave, there were too many requests, or the response contradicts itself.',
  CONFIGURATION: 'The captcha service does not accept the captcha id, or cannot be reached as configured.',
  SERVICE: 'The captcha service failed while it verified the challenge. Nothing is known about the person.',
  TRANSPORT: 'The captcha service gave no usable answer. Nothing is known about the person.',
};
const UNPROVEN =
  'The captcha service has not worked since this process of the subgraph started: either its configuration is wrong, or the service was down before.';
const BY_POLICY_ALONE = 'The request may proceed by policy alone, without an attestation.';
const TRY_AGAIN = 'Let the person try again in a minute.';
const LIMIT_REACHED = `The limit for the outage is reached. ${TRY_AGAIN}`;
const ADVICE: Readonly<Record<CaptchaIndeterminateCause, string>> = {
  CLIENT: 'Let the person solve a new challenge.',
  CONFIGURATION: 'The operator of this subgraph has to check its configuration.',
  SERVICE: TRY_AGAIN,
  TRANSPORT: TRY_AGAIN,
};
