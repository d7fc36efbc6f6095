import type { Resolvers } from '../graphql/types.generated.ts';

/** How the captcha part of the graph is answered. */
export const captchaResolvers: Resolvers = {
  Mutation: {
    validateCaptcha: (_root, { input }, { validateCaptcha }) => validateCaptcha(input),
  },
};
