import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { badUserInput } from '../errors.ts';
import { describeIssues, loggableMessage } from '../runtime/json.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import type { Account, CallScope } from '../upstream/call.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { Probe } from '../upstream/prober.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import { isUpstreamFailure } from '../upstream/transport-errors.ts';
import {
  type CaptchaResponse,
  EXCEPTIONS,
  FORM_HEADERS,
  passBody,
  readResponse,
  toForm,
  validatePath,
} from './contract.ts';
import { FailOpenBudget, type Requester } from './fail-open-budget.ts';
import type { CaptchaMetrics } from './metrics.ts';
import {
  type CaptchaVerdict,
  evidenceOf,
  type FailOpenPolicy,
  healthOf,
  indeterminate,
  type NoVerdict,
  noVerdict,
  verdictOf,
} from './verdict.ts';

export interface Captcha extends Account {
  /** Signs the lot number. Never logged. */
  readonly captchaKey: string;
}

/** A captcha id as it is configured, with the address of its region. */
export type ConfiguredCaptcha = Pick<Captcha, 'captchaKey' | 'region'> &
  Readonly<Record<'captchaId' | 'baseUrl', string>>;

/** Prepares a captcha id once, so that its verifications need not. */
export function prepareCaptcha({ captchaId: id, captchaKey, region, baseUrl }: ConfiguredCaptcha): Captcha {
  const { origin, pathname, search } = new URL(baseUrl + validatePath(id));
  return { id, captchaKey, region, origin, path: pathname + search, headers: FORM_HEADERS };
}

/** A made-up challenge, signed: the service may reject the challenge, but not our account. It looks real and is never cached. */
export function captchaProbe({ captchaKey, region, origin, path, headers }: Captcha): Probe {
  const body = () => {
    const lotNumber = randomBytes(16).toString('hex');
    const captchaOutput = randomBytes(96).toString('base64url');
    const passToken = randomBytes(32).toString('hex');
    const genTime = String(Math.floor(Date.now() / 1_000));
    return toForm({ lotNumber, captchaOutput, passToken, genTime }, captchaKey);
  };
  const classify = (response: UpstreamResponse) => healthOf(readResponse(response), response.status);
  return { region, origin, path, headers, body, classify };
}

/** The requester and the audience of a verification. */
interface Purpose {
  /** Read only in an outage or after a pass. */
  readonly caller: { readonly requester: Requester };
  /** The audience of the attestation, if the input names one. Without `captchaIds` every captcha id counts. */
  readonly audience: { readonly captchaIds?: readonly string[] | undefined } | undefined;
}

interface Options {
  readonly upstream: Pick<UpstreamClient<Captcha>, 'ask' | 'find' | 'health' | 'ids'>;
  readonly captchaFailOpen: FailOpenPolicy;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Pick<CaptchaMetrics, 'recordVerdict' | 'recordLimitedCaptcha'>;
}

/** Verifies solved challenges. Without a verdict the fail-open policy decides (document, 7.3), on what our own probes show. */
export class CaptchaClient {
  readonly #options: Options;
  readonly #budget = new FailOpenBudget();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Verifies one challenge. @throws DeviceTrustError BAD_USER_INPUT, OVERLOADED, QUOTA_EXCEEDED, or a cancellation */
  async validate(input: ValidateCaptchaInput, purpose: Purpose, scope: CallScope): Promise<CaptchaVerdict> {
    const { captchaFailOpen: policy, metrics, upstream } = this.#options;
    const captcha = upstream.find(input.captchaId);
    if (!captcha) throw badUserInput('input.captchaId', 'a configured one', 'an unknown one', 'CAPTCHA_CONFIGURATIONS');
    checkInput(input);
    const { id } = captcha;
    let verdict = await this.#verify(input, captcha, purpose, scope);
    // A half-open call may outlive its client.
    scope.signal.throwIfAborted();
    if (verdict.__typename === 'NoVerdict') {
      const health = upstream.health.find(id);
      const hasWorked = health?.status.hasWorked ?? false;
      const isDown = this.#isDown(id, purpose.audience);
      const takeAllowance = () => {
        const isTaken = this.#budget.take(id, purpose.caller.requester, health?.msWithoutOutages ?? 0);
        if (!isTaken) metrics.recordLimitedCaptcha();
        return isTaken;
      };
      verdict = indeterminate(verdict, { policy, hasWorked, isDown, takeAllowance });
    }
    metrics.recordVerdict(verdict);
    return verdict;
  }

  /**
   * Is this captcha id down, and every other one that would do? A bot could name whichever is down, and so avoid the
   * challenges of one that is well. One that never worked or is refused is not in use; a new one may be well.
   */
  #isDown(captchaId: string, audience: Purpose['audience']): boolean {
    const { ids, health } = this.#options.upstream;
    const accepted = audience ? (audience.captchaIds ?? ids) : ids.slice(0, 1);
    const statusOf = (id: string) => health.find(id)?.status;
    const isInUse = (status: ReturnType<typeof statusOf>) =>
      status && (status.hasWorked ? status.state !== 'refused' : status.isNew);
    const inUse = accepted.map(statusOf).filter(isInUse);
    return inUse.length > 0 && [statusOf(captchaId), ...inUse].every((status) => status?.state === 'outage');
  }

  async #verify(
    input: ValidateCaptchaInput,
    account: Captcha,
    { caller }: Purpose,
    scope: CallScope,
  ): Promise<CaptchaVerdict | NoVerdict> {
    const { upstream, log } = this.#options;
    const ids = { requestId: scope.operation.requestId, account: account.id };
    const body = toForm(input, account.captchaKey);
    try {
      const verdict = await upstream.ask({ account, body, scope }, (received) => {
        const response = readResponse(received);
        const result = verdictOf(response, received.status, input.lotNumber);
        logProblems(result, response, received, input.lotNumber, ids, log);
        return { result, evidence: evidenceOf(response, result, received.status) };
      });
      if (verdict.__typename === 'CaptchaPassed')
        this.#budget.recordPass(account.id, caller.requester, upstream.health.find(account.id)?.msWithoutOutages ?? 0);
      return verdict;
    } catch (error) {
      // A limit of our own is never an outcome: otherwise a bot could turn load into a request that proceeds.
      if (!isUpstreamFailure(error)) throw error;
      // The log has one line about a confirmed outage, and not one for each request.
      if (error.why === 'outage') return noVerdict('TRANSPORT');
      log.warn({ ...ids, code: error.code, internal: error.internal }, 'captcha service gave no answer');
      // A bot can provoke a 429 at will, so the pause after it is the client's doing like the 429 itself.
      if (error.why === 'pause') return noVerdict('CLIENT');
      if (error.code === 'UPSTREAM_REJECTED') return noVerdict('CONFIGURATION');
      return noVerdict('TRANSPORT', { isUnreadable: error.why === 'unreadable' });
    }
  }
}

/** Far more than the values of a widget have. If the service refused a longer one, there would be no verdict. */
const MAX_VALUE_LENGTH = 4_096;
const VALUE = new RegExp(`^[\\x20-\\x7e]{1,${MAX_VALUE_LENGTH}}$`);

/** Refuses values that no widget gives: they could make the service fail, or give two lot numbers one signature. */
function checkInput({ lotNumber, captchaOutput, passToken, genTime }: ValidateCaptchaInput): void {
  for (const [name, value] of Object.entries({ lotNumber, captchaOutput, passToken })) {
    if (VALUE.test(value)) continue;
    throw badUserInput(`input.${name}`, `1 to ${MAX_VALUE_LENGTH} printable ASCII characters`, 'something else');
  }
  if (!/^[0-9]{1,20}$/.test(genTime)) throw badUserInput('input.genTime', '1 to 20 digits', 'something else');
}

/** Logs problems of the operator: a wrong key or captcha id, or a service that misbehaves. A client's mistakes are not logged. */
function logProblems(
  verdict: CaptchaVerdict | NoVerdict,
  response: CaptchaResponse,
  { status, json, unreadable }: UpstreamResponse,
  lotNumber: string,
  ids: { requestId: string; account: string },
  log: Options['log'],
): void {
  const flaws = () => unreadable ?? describeIssues(passBody.safeParse(json).error);
  if (verdict.__typename === 'CaptchaFailed') {
    if (verdict.category === 'ILLEGAL_SIGN_TOKEN')
      log.warn(ids, 'captcha service rejects our signature: is the captcha key right?');
    else if (verdict.details.lotNumber !== lotNumber)
      log.warn({ ...ids, status }, 'captcha service answered for another lot number');
    else if (response.kind === 'rejection' && !response.isDocumented)
      log.warn({ ...ids, status, flaws: flaws() }, 'captcha service rejected a challenge in an undocumented form');
  }
  if (verdict.__typename === 'NoVerdict') {
    const { cause, code } = verdict;
    // Only these are surely a client's mistake. A 4xx without an exception may also be a wrong address or a firewall between
    // us and the service, and an undocumented code or a flawed pass may be a change at the service.
    if (EXCEPTIONS.get(code ?? '')?.cause === 'CLIENT') return;
    const internal = response.kind === 'exception' ? `exception ${code}${loggableMessage(response.msg)}` : undefined;
    const details = { status, cause, code, internal, flaws: code === null ? flaws() : undefined };
    log.warn({ ...ids, ...details }, 'captcha service gave no verdict');
  }
}
