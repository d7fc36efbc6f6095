import { badUserInput, checkText } from '../errors.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { type Account, CLIENT_HEADERS } from '../upstream/transport.ts';
import { signToken, VALIDATE_TEMPLATE } from './contract.ts';
import type { CaptchaSettings } from './settings.ts';

export interface Captcha extends Account {
  /** The key of challenge ids in attestations, even while the next key signs. Never logged. */
  readonly captchaKey: string;
  /** The key that signs, and while it is rotated the other one. The service may accept only one at a time. Never logged. */
  keys: readonly [inUse: string, other?: string | undefined];
  /** The key with which the last probe was refused. Never logged. */
  refusedKey?: string | undefined;
}

/** The form of a verification (2.1; section 4, rule 2). The captcha id is in the URL. */
export function formOf({ lotNumber, captchaOutput, passToken, genTime }: ValidateCaptchaInput, key: string): string {
  return new URLSearchParams({
    lot_number: lotNumber,
    captcha_output: captchaOutput,
    pass_token: passToken,
    gen_time: genTime,
    sign_token: signToken(lotNumber, key),
  }).toString();
}

/** Did this key sign this form? */
export function isSignedWith(key: string, body: string): boolean {
  const form = new URLSearchParams(body);
  return form.get('sign_token') === signToken(form.get('lot_number') ?? '', key);
}

/** A captcha id as it is configured. A valid configuration has an address for its region. */
type ConfiguredCaptcha = CaptchaSettings['captchaConfigurations'][number] & { readonly baseUrl: string | undefined };

/** Prepares a captcha id once for all of its verifications. */
export function prepareCaptcha(configured: ConfiguredCaptcha): Captcha {
  const { captchaId: id, captchaKey, nextCaptchaKey, region, baseUrl } = configured;
  const { origin, pathname, search } = new URL(`${baseUrl}${VALIDATE_TEMPLATE}?captcha_id=${encodeURIComponent(id)}`);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...CLIENT_HEADERS };
  return { id, captchaKey, keys: [captchaKey, nextCaptchaKey], region, origin, path: pathname + search, headers };
}

/** Checks an input, and returns its captcha. @throws BAD_USER_INPUT: unknown captcha id, a value that no widget gives */
export function checkInput(input: ValidateCaptchaInput, captchas: Pick<UpstreamClient<Captcha>, 'find'>): Captcha {
  const account = captchas.find(input.captchaId);
  if (!account) throw badUserInput('input.captchaId', 'a configured one', 'an unknown one', 'CAPTCHA_CONFIGURATIONS');
  for (const name of ['lotNumber', 'captchaOutput', 'passToken', 'genTime'] as const) {
    checkText(`input.${name}`, input[name]);
    if (input[name] === '') throw badUserInput(`input.${name}`, 'at least 1 character', 'none');
  }
  if (/[^0-9]/.test(input.genTime)) throw badUserInput('input.genTime', 'digits only', 'something else');
  return account;
}
