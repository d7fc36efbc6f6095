import { createHmac } from 'node:crypto';

/** `sign_token` (captcha document, section 5): HMAC-SHA256 of the lot number, both in UTF-8, as lower-case hex. */
export function signToken(lotNumber: string, captchaKey: string): string {
  return createHmac('sha256', captchaKey).update(lotNumber, 'utf8').digest('hex');
}
