import { badUserInput, checkText } from '../errors.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { type Account, CLIENT_HEADERS } from '../upstream/transport.ts';
import { signToken, VALIDATE_TEMPLATE } from './contract.ts';
import type { CaptchaSettings } from './settings.ts';

export interface Captcha extends Account {
  /** The key of challenge ids in attestations, even while `keys` sign with the next key. Never logged. */
  readonly captchaKey: string;
  readonly keys: ReturnType<typeof signingKeys>;
}

/** The form of a verification (2.1; section 4, rule 2). The captcha id is in the URL. */
function formOf({ lotNumber, captchaOutput, passToken, genTime }: ValidateCaptchaInput, key: string): string {
  return new URLSearchParams({
    lot_number: lotNumber,
    captcha_output: captchaOutput,
    pass_token: passToken,
    gen_time: genTime,
    sign_token: signToken(lotNumber, key),
  }).toString();
}

/** The key of a captcha id, with its next key while it is rotated. The service may accept only one of them at a time. */
function signingKeys(captchaKey: string, nextCaptchaKey = captchaKey) {
  let inUse = captchaKey;
  /** The key that did not sign this form; undefined if there is no other key. */
  const otherThan = (body: string) => {
    const form = new URLSearchParams(body);
    const signed = (key: string) => form.get('sign_token') === signToken(form.get('lot_number') ?? '', key);
    return [captchaKey, nextCaptchaKey].find((key) => !signed(key));
  };
  return {
    /** The form, signed with the key in use. */
    bodyFor: (input: ValidateCaptchaInput): string => formOf(input, inUse),
    /** The form, signed with the key that did not sign `refused`; undefined if there is no other key. */
    otherBodyFor: (input: ValidateCaptchaInput, refused: string): string | undefined => {
      const key = otherThan(refused);
      return key === undefined ? undefined : formOf(input, key);
    },
    /** Switches to the key that did not sign this probe. A call switches no key, because a client can provoke its refusal. */
    refuse: (probe: string): void => {
      inUse = otherThan(probe) ?? inUse;
    },
  };
}

/** A captcha id as it is configured. A valid configuration has an address for its region. */
type ConfiguredCaptcha = CaptchaSettings['captchaConfigurations'][number] & { readonly baseUrl: string | undefined };

/** Prepares a captcha id once for all of its verifications. */
export function prepareCaptcha(configured: ConfiguredCaptcha): Captcha {
  const { captchaId: id, captchaKey, nextCaptchaKey, region, baseUrl } = configured;
  const { origin, pathname, search } = new URL(`${baseUrl}${VALIDATE_TEMPLATE}?captcha_id=${encodeURIComponent(id)}`);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...CLIENT_HEADERS };
  const keys = signingKeys(captchaKey, nextCaptchaKey);
  return { id, captchaKey, keys, region, origin, path: pathname + search, headers };
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
