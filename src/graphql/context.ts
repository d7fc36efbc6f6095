import type { CaptchaValidator } from '../captcha/client.ts';
import type { CaptchaVerdict } from '../captcha/verdict.ts';
import { DeviceTrustError } from '../errors.ts';
import type { FingerprintClient } from '../fingerprint/client.ts';
import { createFingerprintLoader, type FingerprintLoader } from '../fingerprint/loader.ts';
import type { Application } from '../fingerprint/request.ts';
import type { ValidateCaptchaInput } from './types.generated.ts';

/** What the resolvers of one GraphQL request work with. */
export interface GraphQLContext {
  readonly fingerprints: FingerprintLoader;
  readonly applicationFor: Capabilities['applicationFor'];
  readonly validateCaptcha: (input: ValidateCaptchaInput) => Promise<CaptchaVerdict>;
}

/** What the process can do, made once; a context binds it to one request. */
export interface Capabilities {
  readonly queryFingerprint: FingerprintClient;
  /** The application with this public key, the first one if none is named; undefined if it is unknown. */
  readonly applicationFor: (publicKey: string | null | undefined) => Application | undefined;
  readonly validateCaptcha: CaptchaValidator;
  /** How much one request may set off. */
  readonly limits: { readonly upstreamCalls: number; readonly captchas: number };
}

/**
 * A fresh context, with a loader of its own, for one GraphQL request.
 *
 * @param signal aborted when the caller is gone or the operation is over
 */
export function createContext(capabilities: Capabilities, signal: AbortSignal): GraphQLContext {
  const { queryFingerprint, applicationFor, validateCaptcha, limits } = capabilities;
  let captchas = 0;
  return {
    fingerprints: createFingerprintLoader(queryFingerprint, limits.upstreamCalls, signal),
    applicationFor,
    validateCaptcha: async (input) => {
      captchas += 1;
      if (captchas > limits.captchas)
        throw new DeviceTrustError('OVERLOADED', { message: tooManyCaptchas(limits.captchas) });
      return validateCaptcha(input, signal);
    },
  };
}

/** Aliases would otherwise let one request try out hundreds. */
function tooManyCaptchas(limit: number): string {
  return `One request may verify ${limit} captcha${limit === 1 ? '' : 's'}. Send the next one in another request.`;
}
