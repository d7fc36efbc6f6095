import { z } from 'zod';
import { REGIONS, type Region, type Target, takeChallenge } from './target.ts';

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
export function liveTarget(environment: Readonly<Record<string, string | undefined>>): Target | undefined {
  const env = (name: string) => environment[`CONFORMANCE_${name}`];
  const urlOf = (service: string, region: Region) =>
    z
      .url(`${service}_URL_${region}`)
      .parse(env(`${service}_URL_${region}`))
      .replace(/\/$/, '');
  const applicationsIn = (name: string) =>
    APPLICATIONS.parse(JSON.parse(env(name) ?? '[]')).map((row) => ({ ...row, url: urlOf('FINGERPRINT', row.region) }));
  const applications = applicationsIn('FINGERPRINT_APPLICATIONS');
  const captchas = CAPTCHAS.parse(JSON.parse(env('CAPTCHA_CONFIGURATIONS') ?? '[]')).map((row) => ({
    ...row,
    url: urlOf('CAPTCHA', row.region),
  }));
  const [application] = applications;
  const [captcha] = captchas;
  if (!application && !captcha) return undefined;

  const tokens = { androidToken: env('TOKEN_ANDROID'), iosToken: env('TOKEN_IOS'), webToken: env('TOKEN_WEB') };
  const issuer = env('CHALLENGE_URL');
  const [excluded] = applicationsIn('EXCLUDED_APPLICATION');
  // A documentation address: nobody's, so it serves to show that a claimed address does not count.
  const allowedAddress = env('EXCLUDED_ALLOWED_ADDRESS') ?? '192.0.2.1';
  const captchaWith = (captchaId: string | undefined) => captcha && captchaId && { ...captcha, captchaId };

  const parts: { [Part in keyof Target]: Target[Part] | '' | undefined } = {
    application,
    applications: byRegion(applications),
    disabledApplication: applicationsIn('DISABLED_APPLICATION')[0],
    excludedApplication: excluded && { ...excluded, allowedAddress },
    token: tokens.androidToken ?? tokens.iosToken ?? tokens.webToken,
    ...tokens,
    quietToken: env('TOKEN_QUIET'),
    captcha,
    captchas: byRegion(captchas),
    deletedCaptcha: captchaWith(env('CAPTCHA_DELETED')),
    pausedCaptcha: captchaWith(env('CAPTCHA_PAUSED')),
    solve: issuer ? ({ captchaId }) => takeChallenge(issuer, captchaId) : undefined,
  };
  // Safe: what is not there is left out, and the rest has the type that is declared.
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part)) as Target;
}

const region = z.enum(REGIONS);
const APPLICATIONS = z.array(z.object({ publicKey: z.string(), secret: z.string(), region }));
const CAPTCHAS = z.array(z.object({ captchaId: z.string(), captchaKey: z.string(), region }));

/** Only a full set: the audits across regions walk all three. */
function byRegion<T extends { readonly region: Region }>(rows: readonly T[]): Record<Region, T> | undefined {
  const [GLB, NA, EU] = REGIONS.map((name) => rows.find((row) => row.region === name));
  return GLB && NA && EU ? { GLB, NA, EU } : undefined;
}
