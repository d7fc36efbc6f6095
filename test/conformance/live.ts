import { expectList, expectObject, expectText, fail } from './expect.ts';
import { type Application, type CaptchaAccount, REGIONS, type Region, type Target, takeChallenge } from './target.ts';

type Environment = Readonly<Record<string, string | undefined>>;

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
export function liveTarget(env: Environment): Target | undefined {
  const applications = applicationsOf(env, 'CONFORMANCE_FINGERPRINT_APPLICATIONS');
  const captchas = captchasOf(env, 'CONFORMANCE_CAPTCHA_CONFIGURATIONS');
  const application = applications[0];
  const captcha = captchas[0];
  if (application === undefined && captcha === undefined) return undefined;

  const androidToken = env['CONFORMANCE_TOKEN_ANDROID'];
  const iosToken = env['CONFORMANCE_TOKEN_IOS'];
  const webToken = env['CONFORMANCE_TOKEN_WEB'];
  const issuer = env['CONFORMANCE_CHALLENGE_URL'];
  const excluded = applicationsOf(env, 'CONFORMANCE_EXCLUDED_APPLICATION')[0];
  const captchaWith = (captchaId: string | undefined) =>
    captcha && captchaId !== undefined ? { ...captcha, captchaId } : undefined;

  return withoutUndefined({
    application,
    applications: byRegion(applications),
    disabledApplication: applicationsOf(env, 'CONFORMANCE_DISABLED_APPLICATION')[0],
    // A documentation address: nobody's, so it serves to show that a claimed address does not count.
    excludedApplication: excluded && {
      ...excluded,
      allowedAddress: env['CONFORMANCE_EXCLUDED_ALLOWED_ADDRESS'] ?? '192.0.2.1',
    },
    token: androidToken ?? iosToken ?? webToken,
    androidToken,
    iosToken,
    webToken,
    quietToken: env['CONFORMANCE_TOKEN_QUIET'],
    captcha,
    captchas: byRegion(captchas),
    deletedCaptcha: captchaWith(env['CONFORMANCE_CAPTCHA_DELETED']),
    pausedCaptcha: captchaWith(env['CONFORMANCE_CAPTCHA_PAUSED']),
    solve: issuer === undefined ? undefined : ({ captchaId }: CaptchaAccount) => takeChallenge(issuer, captchaId),
  });
}

interface Regional {
  readonly region: Region;
}

function applicationsOf(env: Environment, name: string): readonly (Application & Regional)[] {
  return rowsOf(env, name).map((row) => {
    const region = regionOf(row['region']);
    const url = urlOf(env, `CONFORMANCE_FINGERPRINT_URL_${region}`);
    return {
      region,
      url,
      publicKey: expectText(row['publicKey'], 'publicKey'),
      secret: expectText(row['secret'], 'secret'),
    };
  });
}

function captchasOf(env: Environment, name: string): readonly (CaptchaAccount & Regional)[] {
  return rowsOf(env, name).map((row) => {
    const region = regionOf(row['region']);
    const url = urlOf(env, `CONFORMANCE_CAPTCHA_URL_${region}`);
    const captchaId = expectText(row['captchaId'], 'captchaId');
    return { region, url, captchaId, captchaKey: expectText(row['captchaKey'], 'captchaKey') };
  });
}

function rowsOf(env: Environment, name: string): readonly Readonly<Record<string, unknown>>[] {
  return expectList(JSON.parse(env[name] ?? '[]'), name).map((row) => expectObject(row, `a row of ${name}`));
}

function regionOf(value: unknown): Region {
  return REGIONS.find((region) => region === value) ?? fail('region GLB, NA or EU', value);
}

function urlOf(env: Environment, name: string): string {
  return (env[name] ?? fail(`${name} to be set`, env[name])).replace(/\/$/, '');
}

/** Only a full set: the audits across regions walk all three. */
function byRegion<T extends Regional>(rows: readonly T[]): Record<Region, T> | undefined {
  const [GLB, NA, EU] = REGIONS.map((region) => rows.find((row) => row.region === region));
  return GLB && NA && EU ? { GLB, NA, EU } : undefined;
}

type Loose = { [Part in keyof Target]: Target[Part] | undefined };

function withoutUndefined(parts: Loose): Target {
  // Sound: what was undefined is left out, and the rest has the type that Loose asked for.
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as Target;
}
