import type { FormattedExecutionResult } from 'graphql';
import type { AttestationIssuer } from '../captcha/attestation.ts';
import type { CaptchaClient } from '../captcha/client.ts';
import type { CaptchaVerdict } from '../captcha/verdict.ts';
import { DeviceTrustError, type Side } from '../errors.ts';
import type { Application, FingerprintClient, FingerprintRequest } from '../fingerprint/client.ts';
import { createFingerprintLoader } from '../fingerprint/client.ts';
import type { Judgements } from '../fingerprint/judgement.ts';
import type { FingerprintOutcome, JudgedDevice } from '../fingerprint/outcome.ts';
import type { PolicyInUse } from '../fingerprint/policy.ts';
import type {
  CaptchaValidation,
  DeviceJudgement,
  DeviceRiskDecision,
  ValidateCaptchaInput,
} from '../schema.generated.ts';
import type { CallContext } from '../upstream/call-context.ts';
import type { Caller } from './caller.ts';
import type { OperationKind } from './operation-kind.ts';

/** What resolvers can do, for the whole process. A context binds it to one request. */
export interface Capabilities {
  readonly fingerprintClient: Pick<FingerprintClient, 'query'>;
  /** The application with this public key, or the first one if none is named. Undefined if it is unknown. */
  readonly applicationFor: (publicKey: string | null | undefined) => Application | undefined;
  readonly policyInUse: Pick<PolicyInUse, 'forOperation'>;
  readonly captchaClient: Pick<CaptchaClient, 'validate'>;
  readonly attestations: Pick<AttestationIssuer, 'check'>;
  /** Seals and opens judgements. */
  readonly judgements: Judgements;
  /** How much one request may ask. */
  readonly limits: RequestLimits;
}

interface RequestLimits {
  /** The cost of a request, which counts the lists of its entities as they turn out. */
  readonly maxCost: number;
  /** Calls to the fingerprint service. */
  readonly maxUpstreamCalls: number;
  readonly maxCaptchas: number;
}

/** Records what one operation does, for the log and the metrics. The server implements it. */
export interface OperationRecorder extends CallContext {
  /** Records what the operation is, once a valid document is known to contain it. */
  recordKind(kind: OperationKind): void;
  /** Counts a token that was asked about. The same token twice counts twice. */
  recordLookup(token: string): void;
  /** Counts a field that was answered with this type of the graph. */
  recordOutcome(typename: string): void;
  /** Records who has to act on an error that happened. Of several sides the operator counts first, and the caller last. */
  recordFailure(side: Side): void;
  /** Records the data and the errors of the response. */
  recordResult(result: FormattedExecutionResult): void;
}

/** What the resolvers of one GraphQL request work with. */
export interface GraphQLContext {
  /** Asks about a token. Equal requests share one call. */
  lookUp(request: FingerprintRequest): Promise<FingerprintOutcome>;
  readonly applicationFor: Capabilities['applicationFor'];
  /** What the risk policy says about a device that `lookUp` returned. */
  decide(device: JudgedDevice): DeviceRiskDecision;
  /**
   * The judgement of a device that `lookUp` returned. It has the time of the answer and the decision of `decide`, which is made
   * when it is selected or sealed. Null without a key to seal it with.
   */
  judge(device: JudgedDevice): DeviceJudgement | null;
  /**
   * Opens a sealed judgement, without a call.
   *
   * @throws DeviceTrustError JUDGEMENT_UNREADABLE
   */
  openJudgement(sealed: string): DeviceJudgement;
  /**
   * Verifies a captcha.
   *
   * @throws DeviceTrustError OVERLOADED beyond the limit of a request; FORBIDDEN if it may not be attested as the input asks
   */
  validateCaptcha(input: ValidateCaptchaInput): Promise<CaptchaVerdict>;
  /** The attestation of a verdict of this request; null if its input named no audience, or if it deserves none. */
  attest(verdict: CaptchaValidation): Promise<string | null> | null;
  /**
   * Counts what the entities of one field cost.
   *
   * @throws DeviceTrustError OVERLOADED if all fields together cost more than a request may
   */
  countCost(cost: number): void;
  /**
   * Refuses a field of an object, which becomes null.
   *
   * @throws the error that is given; nothing once the request has 100 of them
   */
  refuseField(makeError: () => DeviceTrustError): null;
  /** Counts refused fields from the beginning, because all of them are completed again. */
  restartRefusals(): void;
  readonly recorder: OperationRecorder;
  readonly caller: Caller;
}

/** A fresh context, with a loader and counters of its own, for one GraphQL request. */
export function createContext(capabilities: Capabilities, recorder: OperationRecorder, caller: Caller): GraphQLContext {
  const { fingerprintClient, applicationFor, policyInUse, judgements, limits } = capabilities;
  const { captchaClient } = capabilities;
  const decide = policyInUse.forOperation();
  const loader = createFingerprintLoader(fingerprintClient, limits.maxUpstreamCalls, recorder);
  const recordOutcome = (outcome: FingerprintOutcome) => {
    recorder.recordOutcome(outcome.__typename);
    return outcome;
  };
  // Both are made only where they are needed, because most requests need neither.
  let judged: Map<JudgedDevice, DeviceJudgement> | undefined;
  let attestations: Map<CaptchaValidation, () => Promise<string | null>> | undefined;
  let captchas = 0;
  let totalCost = 0;
  let refusedFields = 0;
  return {
    applicationFor,
    recorder,
    caller,
    lookUp: (request) => {
      recorder.recordLookup(request.token);
      return loader.load(request).then(recordOutcome);
    },
    decide,
    judge: (device) => {
      const known = judged?.get(device);
      if (known) return known;
      const judgement = judgements.of(device, caller.subject, () => decide(device));
      if (judgement) judged = (judged ?? new Map()).set(device, judgement);
      return judgement;
    },
    openJudgement: (sealed) => {
      const judgement = judgements.open(sealed);
      recorder.recordOutcome('DeviceJudgement');
      return judgement;
    },
    validateCaptcha: async (input) => {
      captchas += 1;
      if (captchas > limits.maxCaptchas) {
        throw new DeviceTrustError('OVERLOADED', { message: tooManyCaptchas(limits.maxCaptchas), side: 'caller' });
      }
      // Before the verification, because that spends the challenge.
      const request = capabilities.attestations.check(input, caller.subject);
      const verdict = await captchaClient.validate(input, recorder);
      if (request) attestations = (attestations ?? new Map()).set(verdict, () => request.attest(verdict));
      recorder.recordOutcome(verdict.__typename);
      return verdict;
    },
    attest: (verdict) => attestations?.get(verdict)?.() ?? null,
    countCost: (cost) => {
      totalCost += cost;
      if (totalCost <= limits.maxCost) return;
      throw new DeviceTrustError('OVERLOADED', { message: tooCostly(limits.maxCost), side: 'caller' });
    },
    refuseField: (makeError) => {
      refusedFields += 1;
      if (refusedFields <= MAX_REFUSED_FIELDS) throw makeError();
      return null;
    },
    restartRefusals: () => {
      refusedFields = 0;
    },
  };
}

/** An error takes as long as some 60 fields, and one request can select a field of 1,000 references under several aliases. */
const MAX_REFUSED_FIELDS = 100;

/** The lists of the entities can be longer than was assumed when the request was accepted. */
function tooCostly(limit: number): string {
  return `The answer costs more than ${limit}, because its lists are long. Ask about fewer references in one request.`;
}

/** Without this limit one request could try out hundreds of captchas under aliases. */
function tooManyCaptchas(limit: number): string {
  return `One request may verify ${limit} captcha${limit === 1 ? '' : 's'}. Send the next one in another request.`;
}
