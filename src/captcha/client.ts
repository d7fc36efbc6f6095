import type { Logger } from 'pino';
import { badUserInput, DeviceTrustError } from '../errors.ts';
import { describeIssues } from '../runtime/json.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import type { Accounts } from '../upstream/accounts.ts';
import type { CallContext, Cancellable } from '../upstream/call-context.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { Finding } from '../upstream/finding.ts';
import type { AccountHealth } from '../upstream/health.ts';
import { OutageError } from '../upstream/outage-error.ts';
import { AccountPausedError } from '../upstream/pauses.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import { EXCEPTIONS, isDocumentedRejection, passBody, VALIDATE_TEMPLATE } from './contract.ts';
import { judgeCaptcha } from './probe.ts';
import { type CaptchaConfiguration, checkInput, FORM_HEADERS, toForm } from './request.ts';
import {
  type CaptchaVerdict,
  type FailOpenPolicy,
  indeterminate,
  type NoVerdict,
  noVerdict,
  readVerdict,
} from './verdict.ts';

/**
 * Verifies one solved challenge.
 *
 * @throws DeviceTrustError BAD_USER_INPUT, or OVERLOADED or QUOTA_EXCEEDED at a limit of our own; the reason of a cancellation
 */
export type CaptchaValidator = (input: ValidateCaptchaInput, context: CallContext) => Promise<CaptchaVerdict>;

interface Options {
  readonly upstream: Pick<UpstreamClient, 'post' | 'health'>;
  readonly captchas: Accounts<CaptchaConfiguration>;
  /** The deadline of one whole call, in ms. */
  readonly captchaTimeoutMs: number;
  readonly captchaFailOpen: FailOpenPolicy;
  readonly log: Pick<Logger, 'warn'>;
  /** Called with every verdict. */
  readonly onVerdict: (verdict: CaptchaVerdict) => void;
}

/**
 * Makes a validator for the configured captcha ids. Without a verdict of the service the fail-open policy decides
 * (document, 7.3), on what our own probes show about the service. Problems that concern the operator are logged.
 */
export function createCaptchaValidator(options: Options): CaptchaValidator {
  const { upstream, captchas, captchaTimeoutMs: timeoutMs, captchaFailOpen: policy, log, onVerdict } = options;

  /** Asks the service. */
  async function verify(
    input: ValidateCaptchaInput,
    { captchaId, captchaKey, region, origin, path }: CaptchaConfiguration,
    context: CallContext,
  ): Promise<CaptchaVerdict | NoVerdict> {
    const health = upstream.health.find(captchaId);
    const ids = { requestId: context.requestId, captchaId };
    const body = toForm(input, captchaKey);
    const request = {
      region,
      account: captchaId,
      origin,
      path,
      pathTemplate: VALIDATE_TEMPLATE,
      headers: FORM_HEADERS,
      body,
      timeoutMs,
      context,
    };
    let response: UpstreamResponse;
    try {
      response = await upstream.post(request);
    } catch (error) {
      // A limit of our own is never an outcome: otherwise a bot could turn load into a request that proceeds.
      if (context.cancellation.reason || !(error instanceof DeviceTrustError) || OWN_FAULTS.has(error.code))
        throw error;
      // The log has one line about a confirmed outage, and not one for each request.
      if (error instanceof OutageError) return noVerdict('TRANSPORT');
      log.warn({ ...ids, code: error.code, internal: error.internal }, 'captcha service gave no answer');
      // A bot can provoke a 429 at will, so the pause after it is the client's doing like the 429 itself.
      if (error instanceof AccountPausedError) return noVerdict('CLIENT');
      health?.doubt();
      return noVerdict(error.code === 'UPSTREAM_REJECTED' ? 'CONFIGURATION' : 'TRANSPORT');
    }
    const verdict = readVerdict(response, input.lotNumber);
    recordEvidence(verdict, response, health);
    logProblems(verdict, response, input.lotNumber, ids, log);
    return verdict;
  }

  /** What our own probes show about the captcha id. Waits for one until the deadline, if the outcome depends on it. */
  async function findOut(
    cause: NoVerdict['cause'],
    captchaId: string,
    deadline: number,
    { cancellation }: CallContext,
  ): Promise<Finding> {
    const health = upstream.health.find(captchaId);
    if (!health) return UNKNOWN;
    if (policy !== 'faults' || cause === 'CLIENT') return health.finding;
    let wait: Cancellable | undefined;
    const finding = await health.settle(Math.max(0, deadline - performance.now()), (end) => {
      wait = { abort: end };
      cancellation.add(wait);
    });
    if (wait) cancellation.remove(wait);
    if (cancellation.reason) throw cancellation.reason;
    return finding;
  }

  return async (input, context) => {
    const deadline = performance.now() + timeoutMs;
    const captcha = captchas.find(input.captchaId);
    if (!captcha) throw badUserInput('input.captchaId', 'a configured captcha id', 'an unknown one');
    checkInput(input);
    let verdict = await verify(input, captcha, context);
    if (verdict.__typename === 'NoVerdict') {
      const finding = await findOut(verdict.cause, captcha.captchaId, deadline, context);
      verdict = indeterminate(
        verdict,
        { policy, isDefaultId: captcha.captchaId === captchas.default?.captchaId },
        finding,
      );
    }
    onVerdict(verdict);
    return verdict;
  };
}

const OWN_FAULTS: ReadonlySet<string> = new Set(['OVERLOADED', 'QUOTA_EXCEEDED']);

/** What is known about a captcha id that a rotation has removed. */
const UNKNOWN: Finding = { state: 'unknown', hasWorked: false, reason: '' };

/**
 * Records what a response shows about the service. Only a verdict shows that it is well: the edge of a service may refuse what
 * is malformed while everything behind it is down. Whatever looks like a failure only raises a doubt.
 */
function recordEvidence(
  verdict: CaptchaVerdict | NoVerdict,
  response: UpstreamResponse,
  health: AccountHealth | undefined,
): void {
  const kind = verdict.__typename === 'CaptchaPassed' ? 'well' : judgeCaptcha(response).kind;
  if (kind !== 'well') {
    if (kind !== 'inconclusive') health?.doubt();
  } else if (verdict.__typename !== 'NoVerdict') health?.recordAnswer();
}

/**
 * Logs what concerns the operator: our key or captcha id is wrong, or the service misbehaves. A client's mistakes are not
 * logged.
 */
function logProblems(
  verdict: CaptchaVerdict | NoVerdict,
  { status, json, unreadable }: UpstreamResponse,
  lotNumber: string,
  ids: { requestId: string; captchaId: string },
  log: Options['log'],
): void {
  const flaws = () => unreadable ?? describeIssues(passBody.safeParse(json).error);
  if (verdict.__typename === 'CaptchaFailed') {
    const isSignature = verdict.category === 'ILLEGAL_SIGN_TOKEN';
    const isOther = verdict.details.lotNumber !== lotNumber;
    if (isSignature) log.warn(ids, 'captcha service rejects our signature: is the captcha key right?');
    if (isOther) log.warn({ ...ids, status }, 'captcha service answered for another lot number');
    if (!isSignature && !isOther && !isDocumentedRejection(json)) {
      log.warn({ ...ids, status, flaws: flaws() }, 'captcha service rejected a challenge in an undocumented form');
    }
  }
  if (verdict.__typename === 'NoVerdict') {
    const { cause, code } = verdict;
    // Only these are surely a client's mistake. A 4xx without an exception may also be a wrong address or a firewall between
    // us and the service, and an undocumented code or a flawed pass may be a change at the service.
    if (EXCEPTIONS.get(code ?? '')?.cause === 'CLIENT') return;
    log.warn(
      { ...ids, status, cause, code, flaws: code === null ? flaws() : undefined },
      'captcha service gave no verdict',
    );
  }
}
