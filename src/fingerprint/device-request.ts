import { DeviceTrustError } from '../errors.ts';
import type { Caller, RequestContext } from '../graphql/context.ts';
import type { DeviceJudgement, DeviceRiskDecision, QueryDeviceFingerprintArgs } from '../schema.generated.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { createFingerprintLoader, type FingerprintClient } from './client.ts';
import type { FingerprintMetrics } from './metrics.ts';
import type { FingerprintOutcome, JudgedDevice } from './outcome.ts';
import type { PolicyInUse } from './policy.ts';
import { type TrustedMetadata, toRequest, withTrusted } from './request.ts';
import { type Judgements, judgementOf, noSealingKeys } from './sealed-judgement.ts';

export interface FingerprintCaller extends Caller {
  /** The client, as trusted headers describe it. Empty if no header is configured for it. */
  readonly metadata: TrustedMetadata;
}

/** The parts that all requests share. */
export interface FingerprintParts {
  readonly client: Pick<FingerprintClient, 'query'>;
  readonly upstream: Pick<UpstreamClient, 'find'>;
  readonly policyInUse: Pick<PolicyInUse, 'current' | 'decide'>;
  readonly judgements: Pick<Judgements, 'hasKeys' | 'seal' | 'open'>;
  readonly metrics: Pick<FingerprintMetrics, 'recordLookup' | 'recordDroppedMetadata'>;
  readonly maxUpstreamCalls: number;
}

/** Looks up, decides about and judges the devices of one GraphQL request, each of them once. */
export class DeviceRequest {
  readonly #parts: FingerprintParts;
  readonly #context: RequestContext;
  readonly #caller: FingerprintCaller;
  #loader: ReturnType<typeof createFingerprintLoader> | undefined;
  readonly #policy: PolicyInUse['current'];
  readonly #decisions = new Map<JudgedDevice, DeviceRiskDecision>();
  readonly #judgements = new Map<JudgedDevice, DeviceJudgement>();
  /** The devices of the judgements that were made here. All others were opened. */
  readonly #devices = new Map<DeviceJudgement, JudgedDevice>();
  readonly #sealed = new Map<DeviceJudgement, string | DeviceTrustError>();

  constructor(parts: FingerprintParts, context: RequestContext, caller: FingerprintCaller) {
    this.#parts = parts;
    this.#context = context;
    this.#caller = caller;
    this.#policy = parts.policyInUse.current;
  }

  /** Asks about the device of the caller's client, whom trusted headers may describe. */
  device(args: QueryDeviceFingerprintArgs): Promise<FingerprintOutcome> {
    const { metadata, dropped } = withTrusted(args.metadata, this.#caller.metadata);
    for (const key of dropped) this.#parts.metrics.recordDroppedMetadata(key, 1);
    return this.lookUp({ ...args, metadata });
  }

  /** Asks about a token. Equal requests share one call. */
  async lookUp(args: QueryDeviceFingerprintArgs): Promise<FingerprintOutcome> {
    const { client, upstream, metrics, maxUpstreamCalls } = this.#parts;
    const { operation, scope } = this.#context;
    const request = toRequest(args, upstream);
    operation.recordLookup(request.token);
    metrics.recordLookup();
    this.#loader ??= createFingerprintLoader(client, maxUpstreamCalls, scope);
    const outcome = await this.#loader.load(request);
    operation.recordOutcome(outcome.__typename, outcome.__typename === 'DeviceFingerprint');
    return outcome;
  }

  /** The decision of the risk policy about a device that `lookUp` returned. */
  decide(device: JudgedDevice): DeviceRiskDecision {
    const known = this.#decisions.get(device);
    if (known) return known;
    const decision = this.#parts.policyInUse.decide(this.#policy, device, this.#context.operation);
    this.#decisions.set(device, decision);
    return decision;
  }

  /** The judgement of a device that `lookUp` returned; refused without a key to seal it with. */
  judge(device: JudgedDevice): DeviceJudgement | null {
    if (!this.#parts.judgements.hasKeys) return this.#context.refuseField(noSealingKeys);
    const known = this.#judgements.get(device);
    if (known) return known;
    // Sound: `decisionOf` and `sealedOf` make the rest where it is asked for.
    const judgement = judgementOf(device, this.#caller.subject, null) as DeviceJudgement;
    this.#judgements.set(device, judgement);
    this.#devices.set(judgement, device);
    return judgement;
  }

  /** Opens a sealed judgement, without a call. @throws DeviceTrustError JUDGEMENT_UNREADABLE or NOT_CONFIGURED */
  openJudgement(sealed: string): DeviceJudgement {
    const judgement = this.#parts.judgements.open(sealed);
    this.#context.operation.recordOutcome('DeviceJudgement', true);
    return judgement;
  }

  /** The decision of the policy about a judged device; of an opened judgement, the decision that was sealed. */
  decisionOf(judgement: DeviceJudgement): DeviceRiskDecision | null {
    const device = this.#devices.get(judgement);
    return device ? this.decide(device) : (judgement.decision ?? null);
  }

  /** The sealed text of a judgement, always the same one. @throws UPSTREAM_PROTOCOL_ERROR if the answer is too long to seal */
  sealedOf(judgement: DeviceJudgement): string {
    const device = this.#devices.get(judgement);
    if (!device) return judgement.sealed;
    const known = this.#sealed.get(judgement);
    // An error is remembered too, because one request can select it under hundreds of aliases.
    const sealed = known ?? this.#parts.judgements.seal(judgementOf(device, this.#caller.subject, this.decide(device)));
    this.#sealed.set(judgement, sealed);
    if (sealed instanceof DeviceTrustError) throw sealed;
    return sealed;
  }
}
