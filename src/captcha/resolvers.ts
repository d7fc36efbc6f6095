import { badUserInput, DeviceTrustError } from '../errors.ts';
import type { RequestContext } from '../graphql/context.ts';
import type { CaptchaValidation, ValidateCaptchaInput } from '../schema.generated.ts';
import type { CallingOperation } from '../upstream/client.ts';
import type { Attestations } from './attestation.ts';
import type { Purpose } from './request.ts';
import type { Resolvers } from './resolvers.generated.ts';
import type { CaptchaVerdict } from './verdict.ts';

/** The parts that all requests share. */
export interface CaptchaParts {
  readonly maxCaptchas: number;
  validate(input: ValidateCaptchaInput, purpose: Purpose, operation: CallingOperation): Promise<CaptchaVerdict>;
  readonly attestations: Pick<Attestations, 'check'>;
}

/** Verifies and attests the captchas of one GraphQL request. */
export class CaptchaRequest {
  readonly #parts: CaptchaParts;
  readonly #context: RequestContext;
  readonly #attestations = new Map<CaptchaValidation, () => Promise<string | null>>();
  #captchas = 0;

  constructor(parts: CaptchaParts, context: RequestContext) {
    this.#parts = parts;
    this.#context = context;
  }

  /** Verifies a captcha. @throws OVERLOADED beyond the limit; NOT_CONFIGURED, BAD_USER_INPUT or FORBIDDEN */
  async validate(input: ValidateCaptchaInput): Promise<CaptchaVerdict> {
    const { maxCaptchas, attestations } = this.#parts;
    this.#captchas += 1;
    // Without this limit one request could try out hundreds of captchas under aliases.
    if (this.#captchas > maxCaptchas) {
      const count = `${maxCaptchas} captcha${maxCaptchas === 1 ? '' : 's'}`;
      const message = `One request may verify ${count}. Send the next one in another request.`;
      throw new DeviceTrustError('OVERLOADED', { message, side: 'caller' });
    }
    // Checked before the verification, which consumes the challenge.
    const { caller, operation } = this.#context;
    const { audience, attest } = attestations.check(input, caller.subject) ?? {};
    const verdict = await this.#parts.validate(input, { caller, audience }, operation);
    if (attest) this.#attestations.set(verdict, () => attest(verdict));
    operation.recordOutcome(verdict.__typename, verdict.__typename === 'CaptchaPassed');
    operation.recordProceed(verdict.proceed);
    return verdict;
  }

  /** The attestation of a verdict; null if the verdict earns no attestation. Refused if the input named no audience. */
  attest(verdict: CaptchaValidation): Promise<string | null> | null {
    const attest = this.#attestations.get(verdict);
    const missingAudience = () => badUserInput('attestation', 'input.audience and input.action beside it', 'neither');
    return attest ? attest() : this.#context.refuseField(missingAudience);
  }
}

export const SLICE_NAME = 'captcha';

const captchasOf = (context: RequestContext) => context.partOf<CaptchaRequest>(SLICE_NAME);

const attestation = (verdict: CaptchaValidation, _args: unknown, context: RequestContext) =>
  captchasOf(context).attest(verdict);

export const captchaResolvers: Resolvers<RequestContext> = {
  Mutation: { validateCaptcha: (_root, { input }, context) => captchasOf(context).validate(input) },
  CaptchaPassed: { attestation },
  CaptchaFailed: { attestation },
  CaptchaIndeterminate: { attestation },
};
