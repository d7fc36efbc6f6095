import type { CaptchaValidator } from '../captcha/client.ts';
import type { CaptchaVerdict } from '../captcha/verdict.ts';
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
}

/**
 * A fresh context, with a loader of its own, for one GraphQL request.
 *
 * @param signal aborted when the caller is gone or the operation is over
 */
export function createContext(capabilities: Capabilities, signal: AbortSignal): GraphQLContext {
  const { queryFingerprint, applicationFor, validateCaptcha } = capabilities;
  return {
    fingerprints: createFingerprintLoader(queryFingerprint, signal),
    applicationFor,
    validateCaptcha: (input) => validateCaptcha(input, signal),
  };
}
