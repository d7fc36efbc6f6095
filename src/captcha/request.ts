import { badUserInput } from '../errors.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import { type ValidateForm, validatePath } from './contract.ts';
import { signToken } from './signature.ts';

/** A configured captcha id, prepared for calls. */
export interface CaptchaConfiguration {
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
 * In characters, far more than the values of a widget have. If the service refused a longer one, there would be no verdict,
 * and a bot's request could proceed.
 */
const MAX_VALUE_LENGTH = 4_096;

/**
 * Refuses values that no widget gives, before any call. With control characters or characters beyond ASCII, a bot could
 * make the service fail and its own request proceed. A lone surrogate would be replaced in the form, so that two different
 * lot numbers would have the same signature.
 *
 * @throws DeviceTrustError BAD_USER_INPUT
 */
export function checkInput({ lotNumber, captchaOutput, passToken, genTime }: ValidateCaptchaInput): void {
  for (const [name, value] of Object.entries({ lotNumber, captchaOutput, passToken })) {
    if (value === '') throw badUserInput(`input.${name}`, 'at least 1 character', 'none');
    if (value.length > MAX_VALUE_LENGTH) {
      throw badUserInput(`input.${name}`, `at most ${MAX_VALUE_LENGTH} characters`, 'more');
    }
    if (/[^\x20-\x7e]/.test(value)) throw badUserInput(`input.${name}`, 'printable ASCII characters', 'others');
  }
  if (!/^[0-9]{1,20}$/.test(genTime)) throw badUserInput('input.genTime', '1 to 20 digits', 'something else');
}

/** The format of section 4, rule 2. */
export const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' };

/** The form of section 4. The captcha id is not in it but in the URL. */
export function toForm(input: ValidateCaptchaInput, captchaKey: string): string {
  const form: ValidateForm = {
    lot_number: input.lotNumber,
    captcha_output: input.captchaOutput,
    pass_token: input.passToken,
    gen_time: input.genTime,
    sign_token: signToken(input.lotNumber, captchaKey),
  };
  return Object.entries(form)
    .map(([name, value]) => `${name}=${encode(value)}`)
    .join('&');
}

/**
 * Any character but those of ASCII that a form and a URI encode alike. Both differ in a space and `!'()~`, and a lone surrogate
 * can be in no URI.
 */
const MAY_DIFFER = /[^\x22-\x26\x2a-\x7d]/;

/** A value as URLSearchParams writes it. That takes three times as long for a whole form, and hardly any value needs it. */
function encode(value: string): string {
  if (!MAY_DIFFER.test(value)) return encodeURIComponent(value);
  return new URLSearchParams({ value }).toString().slice('value='.length);
}
