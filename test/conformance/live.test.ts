import { describe, test } from 'vitest';
import { captchaAudits } from './captcha.ts';
import { fingerprintAudits } from './fingerprint.ts';
import { liveTarget } from './live-target.ts';
import { register } from './register.ts';

/**
 * The same audits against a live vendor. They run as far as the environment describes it; what it lacks is skipped by
 * name. Every query counts as an event and every verification uses up a challenge: use an account made for testing.
 *
 * CONFORMANCE_FINGERPRINT_APPLICATIONS   [{"publicKey","secret","region"}]: the first serves most audits, one a region
 *                                        those across regions
 * CONFORMANCE_FINGERPRINT_URL_GLB|NA|EU  base addresses of the regions in use
 * CONFORMANCE_DISABLED_APPLICATION       [{"publicKey","secret","region"}]: disabled in the back office
 * CONFORMANCE_EXCLUDED_APPLICATION       the same: its allow-list leaves this machine out
 * CONFORMANCE_EXCLUDED_ALLOWED_ADDRESS   an address that its allow-list holds (default 192.0.2.1)
 * CONFORMANCE_TOKEN_ANDROID|IOS|WEB      device tokens, fresh from each SDK
 * CONFORMANCE_TOKEN_QUIET                a device token without any signal
 * CONFORMANCE_CAPTCHA_CONFIGURATIONS     [{"captchaId","captchaKey","region"}]
 * CONFORMANCE_CAPTCHA_URL_GLB|NA|EU      base addresses of the regions in use
 * CONFORMANCE_CAPTCHA_DELETED, _PAUSED   captcha ids in that state, of the first configuration's region
 * CONFORMANCE_CHALLENGE_URL              answers POST ?captcha_id= with a freshly solved challenge, as the sandbox does
 */
const target = liveTarget(process.env);

if (target === undefined) {
  const needed = 'CONFORMANCE_FINGERPRINT_APPLICATIONS nor CONFORMANCE_CAPTCHA_CONFIGURATIONS';
  test.skip(`the live vendor keeps both documents (skipped: the environment sets neither ${needed})`);
} else {
  describe('the live vendor keeps the fingerprint document', () => register(fingerprintAudits, target));
  describe('the live vendor keeps the captcha document', () => register(captchaAudits, target));
}
