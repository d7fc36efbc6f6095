import type { Logger } from 'pino';
import { badUserInput, DeviceTrustError } from '../errors.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import type { Accounts } from '../upstream/accounts.ts';
import type { CallContext } from '../upstream/call-context.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { describeIssues } from '../upstream/issues.ts';
import { AccountPausedError } from '../upstream/pauses.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import { EXCEPTIONS, isDocumentedRejection, passBody, type ValidateForm, validatePath } from './contract.ts';
import { signToken } from './signature.ts';
import { type CaptchaVerdict, type FailOpenPolicy, indeterminate, toVerdict } from './verdict.ts';

/** A configured captcha id, prepared for calls. */
interface CaptchaConfiguration {
  readonly captchaId: string;
  /** Signs the lot number. Never logged. */
  readonly captchaKey: string;
  readonly region: string;
  readonly origin: string;
  readonly path: string;
}

/** A captcha id as it is configured. */
interface CaptchaAccount {
  readonly captchaId: string;
  readonly captchaKey: string;
  readonly region: string;
  /** Address of the region. */
  readonly baseUrl: string;
}

/** Prepares a captcha id once, so that its verifications need not. */
export function prepareCaptcha({ captchaId, captchaKey, region, baseUrl }: CaptchaAccount): CaptchaConfiguration {
  const { origin, pathname, search } = new URL(baseUrl + validatePath(captchaId));
  return { captchaId, captchaKey, region, origin, path: pathname + search };
}

/**
 * Verifies one solved challenge.
 *
 * @throws DeviceTrustError BAD_USER_INPUT, or OVERLOADED or QUOTA_EXCEEDED at a limit of our own; the reason of a cancellation
 */
export type CaptchaValidator = (input: ValidateCaptchaInput, context: CallContext) => Promise<CaptchaVerdict>;

interface Options {
  readonly upstream: Pick<UpstreamClient, 'post'>;
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
 * (document, 7.3). Problems that concern the operator are logged.
 */
export function createCaptchaValidator(options: Options): CaptchaValidator {
  const { upstream, captchas, captchaTimeoutMs: timeoutMs, captchaFailOpen: policy, log, onVerdict } = options;
  return async (input, context) => {
    const captcha = captchas.find(input.captchaId);
    if (!captcha) throw badUserInput('input.captchaId', 'a configured captcha id', 'an unknown one');
    checkInput(input);
    const { region, origin, path, captchaId } = captcha;
    const { requestId } = context;
    const failOpen = { policy, isDefaultId: captcha === captchas.default };
    const body = toForm(input, captcha.captchaKey);
    let response: UpstreamResponse;
    try {
      response = await upstream.post({
        region,
        account: captchaId,
        origin,
        path,
        headers: FORM_HEADERS,
        body,
        timeoutMs,
        context,
      });
    } catch (error) {
      // A limit of our own is never an outcome: otherwise a bot could turn load into a request that proceeds.
      if (context.cancellation.reason || !(error instanceof DeviceTrustError) || OWN_LIMITS.has(error.code))
        throw error;
      // Without a response the policy decides (document, 7.3), so this is an outcome; the log keeps the cause.
      log.warn({ requestId, captchaId, code: error.code, internal: error.internal }, 'captcha service gave no answer');
      // A bot can provoke a 429 at will, so the pause after it is the client's doing like the 429 itself.
      const verdict = indeterminate(error instanceof AccountPausedError ? 'CLIENT' : 'TRANSPORT', failOpen);
      onVerdict(verdict);
      return verdict;
    }
    const verdict = toVerdict(response, input.lotNumber, failOpen);
    logProblems(verdict, response, input.lotNumber, { requestId, captchaId }, log);
    onVerdict(verdict);
    return verdict;
  };
}

/**
 * In characters, far more than the values of a widget have. If the service refused a longer one, there would be no verdict,
 * and a bot's request could proceed.
 */
const MAX_VALUE_LENGTH = 4_096;

const OWN_LIMITS: ReadonlySet<string> = new Set(['OVERLOADED', 'QUOTA_EXCEEDED']);

const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' };

/** The form of section 4. The captcha id is not in it but in the URL. */
export function toForm(input: ValidateCaptchaInput, captchaKey: string): string {
  const form: ValidateForm = {
    lot_number: input.lotNumber,
    captcha_output: input.captchaOutput,
    pass_token: input.passToken,
    gen_time: input.genTime,
    sign_token: signToken(input.lotNumber, captchaKey),
  };
  return new URLSearchParams({ ...form }).toString();
}

/**
 * Refuses values that no widget gives, before any call. With control characters or characters beyond ASCII, a bot could
 * make the service fail and its own request proceed. A lone surrogate would be replaced in the form, so that two different
 * lot numbers would have the same signature.
 *
 * @throws DeviceTrustError BAD_USER_INPUT
 */
function checkInput({ lotNumber, captchaOutput, passToken, genTime }: ValidateCaptchaInput): void {
  for (const [name, value] of Object.entries({ lotNumber, captchaOutput, passToken })) {
    if (value === '') throw badUserInput(`input.${name}`, 'at least 1 character', 'none');
    if (value.length > MAX_VALUE_LENGTH) {
      throw badUserInput(`input.${name}`, `at most ${MAX_VALUE_LENGTH} characters`, 'more');
    }
    if (/[^\x20-\x7e]/.test(value)) throw badUserInput(`input.${name}`, 'printable ASCII characters', 'others');
  }
  if (!/^[0-9]{1,20}$/.test(genTime)) throw badUserInput('input.genTime', '1 to 20 digits', 'something else');
}

/**
 * Logs what concerns the operator: our key or captcha id is wrong, or the service misbehaves. A client's mistakes are not
 * logged.
 */
function logProblems(
  verdict: CaptchaVerdict,
  { status, json, flaw }: UpstreamResponse,
  lotNumber: string,
  ids: { requestId: string; captchaId: string },
  log: Options['log'],
): void {
  const flaws = () => flaw ?? describeIssues(passBody.safeParse(json).error);
  if (verdict.__typename === 'CaptchaFailed') {
    const isSignature = verdict.category === 'ILLEGAL_SIGN_TOKEN';
    const isOther = verdict.details.lotNumber !== lotNumber;
    if (isSignature) log.warn(ids, 'captcha service rejects our signature: is the captcha key right?');
    if (isOther) log.warn({ ...ids, status }, 'captcha service answered for another lot number');
    if (!isSignature && !isOther && !isDocumentedRejection(json)) {
      log.warn({ ...ids, status, flaws: flaws() }, 'captcha service rejected a challenge in an undocumented form');
    }
  }
  if (verdict.__typename === 'CaptchaIndeterminate') {
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
