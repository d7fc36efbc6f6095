import type { Region } from './values.ts';
import type { Config } from './variables.ts';

/** For each region, the row of the table that has the address of the fingerprint service. */
export const FINGERPRINT_URLS = {
  GLB: 'fingerprintUrlGlb',
  NA: 'fingerprintUrlNa',
  EU: 'fingerprintUrlEu',
} as const satisfies Record<Region, keyof Config>;

/** For each region, the row of the table that has the address of the captcha service. */
export const CAPTCHA_URLS = {
  GLB: 'captchaUrlGlb',
  NA: 'captchaUrlNa',
  EU: 'captchaUrlEu',
} as const satisfies Record<Region, keyof Config>;

type UrlKey = (typeof FINGERPRINT_URLS | typeof CAPTCHA_URLS)[Region];

/** The accounts at both services. The first entry of each list is used when a request names none. */
interface ConfiguredAccounts {
  readonly applications: readonly (Config['fingerprintApplications'][number] & { readonly baseUrl: string })[];
  readonly captchas: readonly (Config['captchaConfigurations'][number] & { readonly baseUrl: string })[];
}

/**
 * Joins each account of live mode with the address of its region.
 *
 * @throws Error if a region in use has no address, which a parsed configuration excludes
 */
export function accountsOf(
  config: Pick<Config, 'fingerprintApplications' | 'captchaConfigurations' | UrlKey>,
): ConfiguredAccounts {
  const withAddress = <Account extends { readonly region: Region }>(account: Account, key: UrlKey) => {
    const baseUrl = config[key];
    if (baseUrl === undefined) throw new Error(`expected an address for region ${account.region}, but got none`);
    return { ...account, baseUrl };
  };
  return {
    applications: config.fingerprintApplications.map((row) => withAddress(row, FINGERPRINT_URLS[row.region])),
    captchas: config.captchaConfigurations.map((row) => withAddress(row, CAPTCHA_URLS[row.region])),
  };
}
