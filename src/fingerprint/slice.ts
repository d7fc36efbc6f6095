import { ConfigError } from '../config/parser.ts';
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
  file: { name: 'policy', title: 'risk policy', path: 'riskPolicyFile', read: readPolicy },
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

/** @throws ConfigError with every mistake of the policy */
function readPolicy(path: string | undefined): RiskPolicy {
  try {
    return path === undefined ? DEFAULT_POLICY : loadPolicy(path);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.problems.map((problem) => `${FINGERPRINT_VARIABLES.riskPolicyFile.name}: ${problem}`));
  }
}
