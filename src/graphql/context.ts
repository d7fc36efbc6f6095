import type { AttestationIssuer } from '../captcha/attestation.ts';
import type { CaptchaClient } from '../captcha/client.ts';
import type { Asker } from '../captcha/fail-open-budget.ts';
import type { CaptchaVerdict } from '../captcha/verdict.ts';
import { RISK_SCOPE } from '../config/values.ts';
import { badUserInput, DeviceTrustError } from '../errors.ts';
import { createFingerprintLoader, type FingerprintClient } from '../fingerprint/client.ts';
import type { FingerprintOutcome, JudgedDevice } from '../fingerprint/outcome.ts';
import type { PolicyInUse } from '../fingerprint/policy.ts';
import { type TrustedMetadata, toRequest, withTrusted } from '../fingerprint/request.ts';
import { type Judgements, noSealingKeys } from '../fingerprint/sealed-judgement.ts';
import type { Operation } from '../observability/operation.ts';
import type {
  CaptchaValidation,
  DeviceJudgement,
  DeviceRiskDecision,
  QueryDeviceFingerprintArgs,
  ValidateCaptchaInput,
} from '../schema.generated.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { CostBudget, type RequestLimits } from './cost.ts';

/** Who sent a GraphQL request, and what this caller may see. */
export interface Caller {
  /** The router, a service of SERVICES by its name, or anyone if no secret is configured. */
  readonly name: string;
  /** The person on whose behalf the caller asks, from the trusted header; undefined without one. */
  readonly subject: string | undefined;
  /** Undefined if scopes are not enforced. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** What trusted headers say about the client. Empty if no header is configured for it. */
  readonly metadata: TrustedMetadata;
  /** Who asks, for what may proceed in an outage. */
  readonly asker: Asker;
}

/** What resolvers can do, for the whole process. A context binds it to one request. */
export interface Capabilities {
  readonly fingerprintClient: Pick<FingerprintClient, 'query'>;
  readonly applications: Pick<UpstreamClient, 'find'>;
  readonly policyInUse: Pick<PolicyInUse, 'forOperation'>;
  readonly captchaClient: Pick<CaptchaClient, 'validate'>;
  readonly attestations: Pick<AttestationIssuer, 'check'>;
  readonly judgements: Judgements;
  readonly limits: RequestLimits;
}

/** What the resolvers of one GraphQL request work with. Apollo Server gives them a shallow copy of it. */
export class GraphQLContext {
  readonly operation: Operation;
  readonly caller: Caller;
  private readonly capabilities: Capabilities;
  private readonly loader: ReturnType<typeof createFingerprintLoader>;
  /** What the risk policy says about a device that `lookUp` returned. */
  readonly decide: (device: JudgedDevice) => DeviceRiskDecision;
  private readonly judged = new Map<JudgedDevice, DeviceJudgement>();
  private readonly attestations = new Map<CaptchaValidation, () => Promise<string | null>>();
  private captchas = 0;
  private refusedFields = 0;
  /** What the request costs. An object, because the copies of a context have it in common. */
  readonly cost: CostBudget;

  /** A fresh context, with a loader and counters of its own. */
  constructor(capabilities: Capabilities, operation: Operation, caller: Caller) {
    const { fingerprintClient, policyInUse, limits } = capabilities;
    this.operation = operation;
    this.caller = caller;
    this.capabilities = capabilities;
    this.loader = createFingerprintLoader(fingerprintClient, limits.maxUpstreamCalls, operation);
    this.decide = policyInUse.forOperation(operation);
    this.cost = new CostBudget(limits.maxCost);
  }

  /** May the caller read what has the tag `risk` in the SDL? Then the log names the person for whom it does. */
  mayReadRisk(): boolean {
    const { scopes, subject } = this.caller;
    if (scopes !== undefined && !scopes.has(RISK_SCOPE)) return false;
    this.operation.reader = subject;
    return true;
  }

  /** Asks about the device of the caller's client, whom trusted headers may describe. */
  device(args: QueryDeviceFingerprintArgs): Promise<FingerprintOutcome> {
    const { metadata, dropped } = withTrusted(args.metadata, this.caller.metadata);
    for (const key of dropped) this.operation.recordDroppedMetadata(key);
    return this.lookUp({ ...args, metadata });
  }

  /** Asks about a token. Equal requests share one call. */
  async lookUp(args: QueryDeviceFingerprintArgs): Promise<FingerprintOutcome> {
    const request = toRequest(args, this.capabilities.applications);
    this.operation.recordLookup(request.token);
    const outcome = await this.loader.load(request);
    this.operation.recordOutcome(outcome.__typename);
    return outcome;
  }

  /** The judgement of a device that `lookUp` returned; refused without a key to seal it with. */
  judge(device: JudgedDevice): DeviceJudgement | null {
    const known = this.judged.get(device);
    if (known) return known;
    const judgement = this.capabilities.judgements.of(device, this.caller.subject, () => this.decide(device));
    if (!judgement) return this.refuseField(noSealingKeys);
    this.judged.set(device, judgement);
    return judgement;
  }

  /** Opens a sealed judgement, without a call. @throws DeviceTrustError JUDGEMENT_UNREADABLE or NOT_CONFIGURED */
  openJudgement(sealed: string): DeviceJudgement {
    const judgement = this.capabilities.judgements.open(sealed);
    this.operation.recordOutcome('DeviceJudgement');
    return judgement;
  }

  /** Verifies a captcha. @throws OVERLOADED beyond the limit; NOT_CONFIGURED, BAD_USER_INPUT or FORBIDDEN */
  async validateCaptcha(input: ValidateCaptchaInput): Promise<CaptchaVerdict> {
    const { limits, attestations, captchaClient } = this.capabilities;
    this.captchas += 1;
    // Without this limit one request could try out hundreds of captchas under aliases.
    if (this.captchas > limits.maxCaptchas) {
      const count = `${limits.maxCaptchas} captcha${limits.maxCaptchas === 1 ? '' : 's'}`;
      const message = `One request may verify ${count}. Send the next one in another request.`;
      throw new DeviceTrustError('OVERLOADED', { message, side: 'caller' });
    }
    // Before the verification, because that spends the challenge.
    const { audience, attest } = attestations.check(input, this.caller.subject) ?? {};
    const verdict = await captchaClient.validate(input, { caller: this.caller, audience }, this.operation);
    if (attest) this.attestations.set(verdict, () => attest(verdict));
    this.operation.recordOutcome(verdict.__typename);
    return verdict;
  }

  /** The attestation of a verdict of this request; null if it deserves none. It is refused if the input named no audience. */
  attest(verdict: CaptchaValidation): Promise<string | null> | null {
    const attest = this.attestations.get(verdict);
    const neither = () => badUserInput('attestation', 'input.audience and input.action beside it', 'neither');
    return attest ? attest() : this.refuseField(neither);
  }

  /** Sets a field to null. @throws the error; nothing once the request has 100 of them, as the last one says */
  refuseField(makeError: () => DeviceTrustError): null {
    this.refusedFields += 1;
    if (this.refusedFields > MAX_REFUSED_FIELDS) return null;
    const error = makeError();
    if (this.refusedFields === MAX_REFUSED_FIELDS) error.message += ' Further fields that are refused have no error.';
    throw error;
  }
}

/** An error takes as long as some 60 fields, and one request can select a field of 1,000 references under several aliases. */
const MAX_REFUSED_FIELDS = 100;
