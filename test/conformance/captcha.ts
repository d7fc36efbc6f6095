import { requestAudits } from './captcha-request.ts';
import { resultAudits } from './captcha-result.ts';
import { signatureAudits } from './captcha-signature.ts';
import type { Audit } from './target.ts';

/** Every rule of the captcha document. */
export const captchaAudits: readonly Audit[] = [...requestAudits, ...signatureAudits, ...resultAudits];

/** The sections that state rules. 3 and 6 are "not shown"; 9 says that the path bears no version, as every audit has it. */
export const CAPTCHA_SECTIONS = ['1', '2.1', '2.2', '2.3', '2.4', '4', '5', '7.1', '7.2', '7.3', '8'] as const;
