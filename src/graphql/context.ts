import type { CaptchaValidator } from '../captcha/client.ts';
import type { CaptchaVerdict } from '../captcha/verdict.ts';
import { DeviceTrustError } from '../errors.ts';
import type { FingerprintClient } from '../fingerprint/client.ts';
import { createFingerprintLoader } from '../fingerprint/loader.ts';
import type { FingerprintOutcome } from '../fingerprint/outcome.ts';
import type { Application, FingerprintRequest } from '../fingerprint/request.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import type { CallContext } from '../upstream/call-context.ts';

/** What the resolvers of one GraphQL request work with. */
export interface GraphQLContext {
  /** The judgement of a token; the same question twice costs one call. */
  readonly lookUp: (request: FingerprintRequest) => Promise<FingerprintOutcome>;
  readonly applicationFor: Capabilities['applicationFor'];
  readonly validateCaptcha: (input: ValidateCaptchaInput) => Promise<CaptchaVerdict>;
  readonly operation: Operation;
}

/** One GraphQL request as the log and the metrics will tell of it, written while it goes on. */
export interface Operation extends CallContext {
  /** Upstream calls that have ended so far. */
  calls: number;
  /** How long they took together, in ms. */
  callMs: number;
  /** Its name in the document, once that is known. */
  name: string | undefined;
  /** Outcome types that are data, with how often each came out. */
  readonly outcomes: Record<string, number>;
  /** Codes of the errors in the answer; undefined until there is one. */
  errors: readonly string[] | undefined;
  /** Does the answer hold any data, beside errors or without? */
  hasData: boolean;
  /** Entity references in all its fields. */
  references: number;
  /** Tokens that were asked about, the same ones twice included. */
  lookups: number;
  /** Those tokens, if the log wants to know their hashes. */
  readonly tokens: string[] | undefined;
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

/** A fresh context, with a loader of its own, for one GraphQL request. */
export function createContext(capabilities: Capabilities, operation: Operation): GraphQLContext {
  const { queryFingerprint, applicationFor, validateCaptcha, limits } = capabilities;
  const loader = createFingerprintLoader(queryFingerprint, limits.upstreamCalls, operation);
  let captchas = 0;
  return {
    applicationFor,
    operation,
    lookUp: async (request) => {
      operation.lookups += 1;
      operation.tokens?.push(request.token);
      return noted(operation, await loader.load(request));
    },
    validateCaptcha: async (input) => {
      captchas += 1;
      if (captchas > limits.captchas) {
        throw new DeviceTrustError('OVERLOADED', { message: tooManyCaptchas(limits.captchas), side: 'caller' });
      }
      return noted(operation, await validateCaptcha(input, operation));
    },
  };
}

function noted<Outcome extends { __typename: string }>({ outcomes }: Operation, outcome: Outcome): Outcome {
  outcomes[outcome.__typename] = (outcomes[outcome.__typename] ?? 0) + 1;
  return outcome;
}

/** Aliases would otherwise let one request try out hundreds. */
function tooManyCaptchas(limit: number): string {
  return `One request may verify ${limit} captcha${limit === 1 ? '' : 's'}. Send the next one in another request.`;
}
