import type { Logger } from 'pino';
import { badUserInput, DeviceTrustError } from '../errors.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import type { Caller } from '../upstream/call-context.ts';
import type { UpstreamHttp } from '../upstream/client.ts';
import { flawsIn } from '../upstream/issues.ts';
import type { UpstreamAnswer } from '../upstream/transport.ts';
import { passedAnswer, type ValidateForm, validatePath } from './contract.ts';
import { signToken } from './signature.ts';
import { type CaptchaVerdict, type FailOpenPolicy, indeterminate, toVerdict } from './verdict.ts';

/** One of the configured captcha ids, ready to be called. */
export interface CaptchaConfiguration {
  readonly captchaId: string;
  /** Signs what is sent. Never logged. */
  readonly captchaKey: string;
  readonly region: string;
  readonly origin: string;
  readonly path: string;
}

interface Account {
  readonly captchaId: string;
  readonly captchaKey: string;
  readonly region: string;
  /** Address of the region. */
  readonly baseUrl: string;
}

/** Does once what every verification with a captcha id needs. */
export function prepareCaptcha({ captchaId, captchaKey, region, baseUrl }: Account): CaptchaConfiguration {
  const { origin, pathname, search } = new URL(baseUrl + validatePath(captchaId));
  return { captchaId, captchaKey, region, origin, path: pathname + search };
}

/**
 * Verifies one solved challenge. Rejects with a DeviceTrustError BAD_USER_INPUT, with OVERLOADED at a limit of our own, or
 * with the reason of a cancellation.
 */
export type CaptchaValidator = (input: ValidateCaptchaInput, caller: Caller) => Promise<CaptchaVerdict>;

interface Options {
  readonly http: UpstreamHttp;
  /** The configuration with this captcha id; the first one if none is named, undefined if it is unknown. */
  readonly configurationFor: (captchaId: string | null | undefined) => CaptchaConfiguration | undefined;
  /** For one whole call, in ms. */
  readonly timeoutMs: number;
  readonly policy: FailOpenPolicy;
  readonly log: Pick<Logger, 'warn'>;
  /** Told of every verdict. */
  readonly onVerdict: (verdict: CaptchaVerdict) => void;
}

/**
 * A validator over the configured captcha ids. What the service leaves open the policy decides (document, 7.3); what an
 * operator has to know goes to the log.
 */
export function createCaptchaValidator(options: Options): CaptchaValidator {
  const { http, configurationFor, timeoutMs, policy, log, onVerdict } = options;
  return async (input, caller) => {
    const configuration = configurationFor(input.captchaId);
    if (!configuration) throw badUserInput('input.captchaId', 'a configured captcha id', 'an unknown one');
    refuseMalformed(input);
    const { region, origin, path, captchaId } = configuration;
    const { requestId } = caller;
    const failOpen = { policy, isDefaultId: configuration === configurationFor(undefined) };
    const body = toForm(input, configuration.captchaKey);
    let answer: UpstreamAnswer;
    try {
      answer = await http.post({ region, origin, path, headers: FORM_HEADERS, body, timeoutMs, caller });
    } catch (error) {
      // Our own limit is no word about the challenge: as an outcome, a bot could turn load into a request that proceeds.
      if (caller.cancellation.reason || !(error instanceof DeviceTrustError) || error.code === 'OVERLOADED')
        throw error;
      // Without an answer the policy decides (document, 7.3), so this is an outcome; the log keeps the cause.
      log.warn({ requestId, captchaId, code: error.code, internal: error.internal }, 'captcha service gave no answer');
      const verdict = indeterminate('TRANSPORT', failOpen);
      onVerdict(verdict);
      return verdict;
    }
    const verdict = toVerdict(answer, input.lotNumber, failOpen);
    report(verdict, answer, input.lotNumber, { requestId, captchaId }, log);
    onVerdict(verdict);
    return verdict;
  };
}

/** Far above what a widget gives. A size that the service refuses is no verdict, and could proceed at a bot's will. */
const MAX_VALUE_LENGTH = 4_096;

const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' };

/** The form of section 4, which carries everything but the captcha id. */
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
 * What can be known to be wrong is refused before any call. Control characters and what is beyond ASCII are no widget's, and
 * might make a service stumble: its fault, and a bot's way past it. A lone surrogate would even be replaced on its way, and
 * two different lot numbers would share one signature.
 */
function refuseMalformed({ lotNumber, captchaOutput, passToken, genTime }: ValidateCaptchaInput): void {
  for (const [name, value] of Object.entries({ lotNumber, captchaOutput, passToken })) {
    if (value === '') throw badUserInput(`input.${name}`, 'at least 1 character', 'none');
    if (value.length > MAX_VALUE_LENGTH) {
      throw badUserInput(`input.${name}`, `at most ${MAX_VALUE_LENGTH} characters`, 'more');
    }
    if (/[^\x20-\x7e]/.test(value)) throw badUserInput(`input.${name}`, 'printable ASCII characters', 'others');
  }
  if (!/^[0-9]{1,20}$/.test(genTime)) throw badUserInput('input.genTime', '1 to 20 digits', 'something else');
}

/** What an operator has to know: our key or captcha id is wrong, or the service misbehaves. A caller's doing is no news. */
function report(
  verdict: CaptchaVerdict,
  { status, json }: UpstreamAnswer,
  lotNumber: string,
  where: { requestId: string; captchaId: string },
  log: Options['log'],
): void {
  if (verdict.__typename === 'CaptchaFailed' && verdict.category === 'ILLEGAL_SIGN_TOKEN') {
    log.warn(where, 'captcha service rejects our signature: is the captcha key right?');
  }
  if (verdict.__typename === 'CaptchaFailed' && verdict.details.lotNumber !== lotNumber) {
    log.warn({ ...where, status }, 'captcha service answered for another lot number');
  }
  // A 4xx without an exception may be the caller's doing, but also a wrong address or a firewall in between.
  if (verdict.__typename === 'CaptchaIndeterminate' && (verdict.cause !== 'CLIENT' || verdict.code === null)) {
    const { cause, code } = verdict;
    const flaws = code === null ? flawsIn(passedAnswer.safeParse(json).error) : undefined;
    log.warn({ ...where, status, cause, code, flaws }, 'captcha service gave no verdict');
  }
}
