import { namedKinds } from '../callers/identity.ts';
import { badUserInput, DeviceTrustError } from '../errors.ts';
import type { RequestContext } from '../graphql/context.ts';
import { typeDefs } from '../graphql/type-defs.ts';
import type { CaptchaValidation, ValidateCaptchaInput } from '../schema.generated.ts';
import type { Slice } from '../slice.ts';
import { unusedRegions } from '../upstream/settings.ts';
import type { Resolvers } from './resolvers.generated.ts';
import { type CaptchaService, openCaptchaService } from './service.ts';
import { CAPTCHA_VARIABLES, captchaRules } from './settings.ts';
import type { CaptchaVerdict } from './verdict.ts';

export type CaptchaParts = Pick<CaptchaService, 'maxCaptchas' | 'checkAttestation' | 'validate'>;

/** Verifies and attests the captchas of one GraphQL request. */
export function captchaRequest({ maxCaptchas, checkAttestation, validate }: CaptchaParts, context: RequestContext) {
  const { caller, operation } = context;
  const attestations = new Map<CaptchaValidation, () => Promise<string | null>>();
  let captchas = 0;
  return {
    /** Verifies a captcha. @throws OVERLOADED beyond the limit; NOT_CONFIGURED, BAD_USER_INPUT or FORBIDDEN */
    validate: async (input: ValidateCaptchaInput): Promise<CaptchaVerdict> => {
      captchas += 1;
      // Without this limit one request could try out hundreds of captchas under aliases.
      if (captchas > maxCaptchas) {
        const count = `${maxCaptchas} captcha${maxCaptchas === 1 ? '' : 's'}`;
        const message = `One request may verify ${count}. Send the next one in another request.`;
        throw new DeviceTrustError('OVERLOADED', { message, side: 'caller' });
      }
      // Checked before the verification, which consumes the challenge.
      const { audience, attest } = checkAttestation(input, caller.subject) ?? {};
      const verdict = await validate(input, audience, context);
      if (attest) attestations.set(verdict, () => attest(verdict));
      operation.recordOutcome(verdict.__typename, verdict.__typename === 'CaptchaPassed');
      operation.recordProceed(verdict.proceed);
      return verdict;
    },
    /** The attestation of a verdict; null if the verdict earns no attestation. Refused if the input named no audience. */
    attest: (verdict: CaptchaValidation): Promise<string | null> | null => {
      const attest = attestations.get(verdict);
      const missingAudience = () => badUserInput('attestation', 'input.audience and input.action beside it', 'neither');
      return attest ? attest() : context.refuseField(missingAudience);
    },
  };
}

const NAME = 'captcha';

const captchasOf = (context: RequestContext) => context.requestOf<ReturnType<typeof captchaRequest>>(NAME);

const attestation = (verdict: CaptchaValidation, _args: unknown, context: RequestContext) =>
  captchasOf(context).attest(verdict);

const resolvers: Resolvers<RequestContext> = {
  Mutation: { validateCaptcha: (_root, { input }, context) => captchasOf(context).validate(input) },
  CaptchaPassed: { attestation },
  CaptchaFailed: { attestation },
  CaptchaIndeterminate: { attestation },
};

export const captchaSlice: Slice<typeof CAPTCHA_VARIABLES> = {
  name: NAME,
  typeDefs: typeDefs('captcha.graphql'),
  resolvers,
  variables: CAPTCHA_VARIABLES,
  accounts: 'captchaConfigurations',
  quota: 'captchaQuota',
  rules: captchaRules,
  summary: ({ upstreamMode, attestation, captchaFailOpen, trustedHeaders }) => {
    const audiences = attestation && `for ${attestation.audiences.map(({ id }) => id).join(' and ')}`;
    const requesters = namedKinds(trustedHeaders ?? {}).join(' and ');
    const shares = requesters ? `with a share for each ${requesters}` : 'and one client can use up the budget';
    return [
      `attestation: ${audiences ?? (upstreamMode === 'sandbox' ? 'of the sandbox' : 'off')}`,
      `fail-open: ${captchaFailOpen}${captchaFailOpen === 'faults' ? `, ${shares}` : ''}`,
    ];
  },
  unused: ({ captchaConfigurations }) =>
    unusedRegions(captchaConfigurations).map((region) => `captchaUrl${region}` as const),
  start: (options) => {
    const service = openCaptchaService(options);
    return { ...service, forRequest: (context) => captchaRequest(service, context) };
  },
};
