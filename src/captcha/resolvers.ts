import type { RequestContext } from '../graphql/context.ts';
import type { CaptchaValidation, Resolvers } from '../schema.generated.ts';
import type { CaptchaRequest } from './captcha-request.ts';

export interface CaptchaContext extends RequestContext {
  readonly captcha: CaptchaRequest;
}

const attestation = (verdict: CaptchaValidation, _args: unknown, { captcha }: CaptchaContext) =>
  captcha.attest(verdict);

export const captchaResolvers: Resolvers<CaptchaContext> = {
  Mutation: { validateCaptcha: (_root, { input }, { captcha }) => captcha.validate(input) },
  CaptchaPassed: { attestation },
  CaptchaFailed: { attestation },
  CaptchaIndeterminate: { attestation },
};
