import type { SliceOf } from '../slice.ts';
import { unusedRegions } from '../upstream/settings.ts';
import { DEFAULT_POLICY } from './policy.ts';
import { fingerprintResolvers, SLICE_NAME } from './resolvers.ts';
import { FingerprintService } from './service.ts';
import { FINGERPRINT_VARIABLES, fingerprintRules } from './settings.ts';
import { FINGERPRINT_SDL } from './signal-catalogue.ts';

export const fingerprintSlice: SliceOf<typeof FINGERPRINT_VARIABLES> = {
  name: SLICE_NAME,
  typeDefs: FINGERPRINT_SDL,
  resolvers: fingerprintResolvers,
  variables: FINGERPRINT_VARIABLES,
  accounts: 'fingerprintApplications',
  quota: 'fingerprintQuota',
  rules: fingerprintRules,
  summary: ({ upstreamMode, sealingKeys, riskPolicy }) => {
    const sealing = sealingKeys.length > 0 ? 'on' : upstreamMode === 'sandbox' ? 'of the sandbox' : 'off';
    return [`sealing: ${sealing}`, `policy: ${riskPolicy.id}${riskPolicy === DEFAULT_POLICY ? ', built-in' : ''}`];
  },
  unused: ({ fingerprintApplications }) =>
    unusedRegions(fingerprintApplications).map((region) => `fingerprintUrl${region}` as const),
  start: (options) => new FingerprintService(options),
};
