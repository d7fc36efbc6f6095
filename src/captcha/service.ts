import { randomBytes } from 'node:crypto';
import type { RequestContext } from '../graphql/context.ts';
import { logOnce } from '../observability/logger.ts';
import { describeIssues, loggableMessage } from '../runtime/json.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import type { StartOptions } from '../slice.ts';
import { type CallContext, UpstreamClient, type UpstreamRequest } from '../upstream/client.ts';
import type { Probe } from '../upstream/probe.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import { isUpstreamFailure } from '../upstream/transport-errors.ts';
import { createAttestations } from './attestation.ts';
import { type CaptchaResponse, EXCEPTIONS, passBody, readResponse, VALIDATE_TEMPLATE } from './contract.ts';
import { createFailOpenBudget } from './fail-open-budget.ts';
import { createCaptchaMetrics } from './metrics.ts';
import { type Captcha, checkInput, formOf, isSignedWith, prepareCaptcha } from './request.ts';
import type { CAPTCHA_VARIABLES } from './settings.ts';
import { indeterminate, interpret, noResponse, type Result } from './verdict.ts';

/** The audience of the attestation, if the input names one. Without `captchaIds` it accepts every captcha id. */
type Audience = { readonly captchaIds?: readonly string[] | undefined } | undefined;

export type CaptchaService = ReturnType<typeof openCaptchaService>;

/** Opens the captcha service, with the attestations of its verdicts. */
export function openCaptchaService({ settings, shared, registry, callers }: StartOptions<typeof CAPTCHA_VARIABLES>) {
  const { captchaFailOpen: policy, captchaTimeoutMs, maxCaptchas } = settings;
  const { log } = shared;
  const metrics = createCaptchaMetrics(registry);
  const logDrift = logOnce(log, 'a pass of the captcha service has a field that is not as documented');
  const budget = createFailOpenBudget(callers);
  const upstream = new UpstreamClient({
    ...shared,
    accounts: settings.captchaConfigurations.map((one) =>
      prepareCaptcha({ ...one, baseUrl: settings[`captchaUrl${one.region}`] }),
    ),
    probeOf: captchaProbe,
    pathTemplate: VALIDATE_TEMPLATE,
    timeoutMs: captchaTimeoutMs,
  });
  const { checkAttestation, jwks } = createAttestations(settings, (id) => upstream.find(id), metrics);

  /** Verifies a challenge (document, 7.3). @throws DeviceTrustError BAD_USER_INPUT, OVERLOADED, QUOTA_EXCEEDED, RATE_LIMITED or CANCELLED */
  async function validate(input: ValidateCaptchaInput, audience: Audience, context: RequestContext) {
    const { caller } = context;
    const captcha = checkInput(input, upstream);
    const { id } = captcha;
    let verdict = await verify(captcha, input, context);
    if (verdict.__typename === 'CaptchaPassed') budget.recordPass(id, caller, caller.requester);
    // A trial may outlive its client.
    context.signal.throwIfAborted();
    if (verdict.__typename === 'NoVerdict')
      verdict = indeterminate(verdict, {
        policy,
        hasWorked: upstream.health.accounts.get(id)?.status.hasWorked ?? false,
        isDown: isDown(id, audience),
        takeAllowance: () => {
          const isTaken = budget.take(id, caller, caller.requester);
          if (!isTaken) metrics.recordLimitedCaptcha();
          return isTaken;
        },
      });
    metrics.recordVerdict(verdict);
    return verdict;
  }

  /**
   * True if this captcha id and every other id in use that the audience accepts are down. Otherwise a bot could pick one that is
   * down. An id is in use, except one that is refused because of our mistake and has had no pass for 10 s. An id that it has
   * deleted or paused, or no longer knows, as our own probe has confirmed, is down.
   */
  function isDown(captchaId: string, audience: Audience): boolean {
    const { ids, health } = upstream;
    // Without an audience, only the default id counts.
    const accepted = audience ? (audience.captchaIds ?? ids) : ids.slice(0, 1);
    const find = (id: string) => health.accounts.get(id);
    const isIdDown = (account: ReturnType<typeof find>) =>
      account?.status.state === 'outage' || account?.status.refusal === 'withdrawn';
    const inUse = accepted.map(find).filter((one) => one && (one.isPassing || one.status.refusal !== 'mistake'));
    return inUse.length > 0 && [find(captchaId), ...inUse].every(isIdDown);
  }

  /** Verifies with the key in use, and once more with the other key if the service refuses the signature. Only probes switch the key. */
  async function verify(account: Captcha, input: ValidateCaptchaInput, context: CallContext) {
    const [key, other] = account.keys;
    const body = formOf(input, key);
    const endsAt = performance.now() + captchaTimeoutMs;
    const verdict = await send({ account, context, body, timeoutMs: captchaTimeoutMs }, input.lotNumber);
    // Both calls have one time-out, because a router waits no longer.
    const msLeft = Math.floor(endsAt - performance.now());
    if (!hasIllegalSignature(verdict) || other === undefined || msLeft <= 0) return verdict;
    const retry = { account, context, body: formOf(input, other), timeoutMs: msLeft };
    const second = await send(retry, input.lotNumber);
    // A second response without a verdict must not let a rejected captcha proceed.
    return second.__typename === 'NoVerdict' ? verdict : second;
  }

  async function send(call: UpstreamRequest, lotNumber: string): Promise<Result> {
    const ids = { requestId: call.context.operation.requestId, account: call.account.id };
    try {
      return await upstream.call(call, (received) => {
        const response = readResponse(received.json, lotNumber);
        const read = interpret(response, received.status, lotNumber);
        logProblems(read.result, response, received, ids, log);
        for (const field of response.drifts) {
          metrics.recordDrift(field);
          logDrift(field);
        }
        return read;
      });
    } catch (error) {
      // A limit of our own is never a verdict: otherwise a bot could turn load into a request that proceeds.
      if (!isUpstreamFailure(error)) throw error;
      // The log has one line for a confirmed outage, not one for each request.
      if (error.why !== 'outage')
        log.warn({ ...ids, code: error.code, internal: error.internal }, 'captcha service gave no answer');
      return noResponse(error);
    }
  }

  return { upstream, jwks, maxCaptchas, checkAttestation, validate };
}

const hasIllegalSignature = (verdict: Result) =>
  verdict.__typename === 'CaptchaFailed' && verdict.category === 'ILLEGAL_SIGN_TOKEN';

/** Logs problems of the operator: a wrong key or captcha id, or a service that misbehaves. A client's mistakes are not logged. */
function logProblems(
  verdict: Result,
  { kind, msg }: CaptchaResponse,
  { status, json, unreadable }: UpstreamResponse,
  ids: { requestId: string; account: string },
  log: StartOptions['shared']['log'],
): void {
  const flaws = () => unreadable ?? describeIssues(passBody.safeParse(json).error);
  if (hasIllegalSignature(verdict)) log.warn(ids, 'captcha service rejects our signature: check the captcha key');
  else if (kind === 'other lot number') log.warn({ ...ids, status }, 'captcha service answered for another lot number');
  else if (kind === 'undocumented rejection')
    log.warn({ ...ids, status, flaws: flaws() }, 'captcha service rejected a challenge in an undocumented form');
  if (verdict.__typename === 'NoVerdict') {
    const { cause, code } = verdict;
    // Only documented exceptions of CLIENT are certainly a client's mistake. A 4xx without an exception may come from a wrong
    // address or a firewall between us and the service, and an undocumented code or a flawed pass from a change at the service.
    if (kind === 'exception of the client' && EXCEPTIONS.has(code ?? '')) return;
    const internal = kind.includes('exception') ? `exception ${code}${loggableMessage(msg)}` : undefined;
    const details = { status, cause, code, internal, flaws: code === null ? flaws() : undefined };
    log.warn({ ...ids, ...details }, 'captcha service gave no verdict');
  }
}

/** A random challenge with our signature: the service may reject the challenge, but not our account. No cache can answer it. */
export function captchaProbe(captcha: Captcha): Probe {
  const body = () => {
    const lotNumber = randomBytes(16).toString('hex');
    const captchaOutput = randomBytes(96).toString('base64url');
    const passToken = randomBytes(32).toString('hex');
    const genTime = String(Math.floor(Date.now() / 1_000));
    return formOf({ lotNumber, captchaOutput, passToken, genTime }, captcha.keys[0]);
  };
  const classify = (received: UpstreamResponse, sent: string) => {
    const response = readResponse(received.json);
    const { evidence, reason } = interpret(response, received.status);
    const {
      keys: [key, other],
      refusedKey,
    } = captcha;
    captcha.refusedKey = undefined;
    if (response.kind !== 'illegal signature' || other === undefined)
      return { evidence, reason: evidence === 'well' ? '' : reason };
    const signedWith = isSignedWith(key, sent) ? key : other;
    captcha.refusedKey = signedWith;
    // A call switches no key, because a client can provoke its refusal. Probes overlap, and a late one switches nothing back.
    if (signedWith === key) captcha.keys = [other, key];
    // Only both keys are a mistake: while they are rotated, the service refuses one of them.
    return { evidence: refusedKey === undefined || refusedKey === signedWith ? 'inconclusive' : evidence, reason };
  };
  return { ...captcha, body, classify };
}
