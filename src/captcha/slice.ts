import { typeDefs } from '../graphql/type-defs.ts';
import type { SliceOf } from '../slice.ts';
import { unusedRegions } from '../upstream/settings.ts';
import { captchaResolvers, SLICE_NAME } from './resolvers.ts';
import { CaptchaService } from './service.ts';
import { CAPTCHA_VARIABLES, captchaRules } from './settings.ts';

export const captchaSlice: SliceOf<typeof CAPTCHA_VARIABLES> = {
  name: SLICE_NAME,
  typeDefs: typeDefs('captcha.graphql'),
  resolvers: captchaResolvers,
  variables: CAPTCHA_VARIABLES,
  accounts: 'captchaConfigurations',
  quota: 'captchaQuota',
  rules: captchaRules,
  summary: ({ upstreamMode, attestation, captchaFailOpen, trustedHeaders }) => {
    const { subject, metadata = {} } = trustedHeaders ?? {};
    const audiences = attestation && `for ${attestation.audiences.map(({ id }) => id).join(' and ')}`;
    // Only trusted headers tell one requester from another.
    const hasAddress = ['ipAddr', 'ipAddrV4', 'ipAddrV6'].some((key) => key in metadata);
    const requesters = [subject !== undefined && 'person', hasAddress && 'network'].filter(Boolean).join(' and ');
    const shares = requesters ? `with a share for each ${requesters}` : 'and one client can use up the budget';
    return [
      `attestation: ${audiences ?? (upstreamMode === 'sandbox' ? 'of the sandbox' : 'off')}`,
      `fail-open: ${captchaFailOpen}${captchaFailOpen === 'faults' ? `, ${shares}` : ''}`,
    ];
  },
  unused: ({ captchaConfigurations }) =>
    unusedRegions(captchaConfigurations).map((region) => `captchaUrl${region}` as const),
  start: (options) => new CaptchaService(options),
};
