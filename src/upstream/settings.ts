import { quotaLimits } from '../callers/limits.ts';
import { parsed } from '../config/json-values.ts';
import { choice, integer, matching, oneOf, type Table, type Values } from '../config/values.ts';

export const REGIONS = ['GLB', 'NA', 'EU'] as const;

export type Region = (typeof REGIONS)[number];

export const region = oneOf(REGIONS);

/** The regions without an account, whose addresses have no effect. */
export const unusedRegions = (accounts: readonly { readonly region: Region }[]) =>
  REGIONS.filter((region) => !accounts.some((account) => account.region === region));

export const timeoutMs = integer(1, 60_000);

export const quota = {
  expected: 'JSON such as {"perSecond":200,"perDay":1000000}, with at least one limit, each from 1 to 999999999',
  schema: parsed.pipe(quotaLimits),
};

export const UPSTREAM_VARIABLES = {
  upstreamCheck: { name: 'UPSTREAM_CHECK', ...choice('first', 'all', 'off'), default: 'first' },
  quotaStoreUrl: {
    name: 'QUOTA_STORE_URL',
    expected: 'a redis:// or rediss:// address, such as rediss://user:password@host:6379/0',
    schema: matching(
      'a redis:// or rediss:// address',
      (text) => URL.canParse(text) && !/\s/.test(text) && /^rediss?:\/\/[^/?#]+(\/\d{0,3})?$/.test(text),
    ),
    secret: true,
  },
  upstreamMaxInFlight: { name: 'UPSTREAM_MAX_IN_FLIGHT', ...integer(1, 10_000), default: '512' },
} as const satisfies Table;

export type UpstreamSettings = Values<typeof UPSTREAM_VARIABLES> & { readonly upstreamMode: 'live' | 'sandbox' };
