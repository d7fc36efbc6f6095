import type { SliceOf } from '../slice.ts';
import { unusedRegions } from '../upstream/settings.ts';
import { DEFAULT_POLICY, loadPolicy, type RiskPolicy } from './policy.ts';
import { fingerprintResolvers, SLICE_NAME } from './resolvers.ts';
import { FingerprintService } from './service.ts';
import { FINGERPRINT_VARIABLES, fingerprintRules } from './settings.ts';
import { FINGERPRINT_SDL } from './signal-catalogue.ts';

export const fingerprintSlice: SliceOf<typeof FINGERPRINT_VARIABLES, RiskPolicy> = {
  name: SLICE_NAME,
  typeDefs: FINGERPRINT_SDL,
  resolvers: fingerprintResolvers,
  variables: FINGERPRINT_VARIABLES,
  accounts: 'fingerprintApplications',
  quota: 'fingerprintQuota',
  file: {
    name: 'policy',
    title: 'risk policy',
    path: 'riskPolicyFile',
    read: (path) => (path === undefined ? DEFAULT_POLICY : loadPolicy(path, FINGERPRINT_VARIABLES.riskPolicyFile.name)),
  },
  rules: fingerprintRules,
  summary: ({ upstreamMode, sealingKeys, riskPolicyFile }, policy) => {
    const sealing = sealingKeys.length > 0 ? 'on' : upstreamMode === 'sandbox' ? 'of the sandbox' : 'off';
    return [
      `sealing: ${sealing}`,
      `policy: ${riskPolicyFile === undefined ? 'built-in' : `${policy?.id} in ${riskPolicyFile}`}`,
    ];
  },
  unused: ({ fingerprintApplications }) =>
    unusedRegions(fingerprintApplications).map((region) => `fingerprintUrl${region}` as const),
  start: (options) => new FingerprintService(options),
};
