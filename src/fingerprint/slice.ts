import DataLoader from 'dataloader';
import { asError, badUserInput, DeviceTrustError } from '../errors.ts';
import type { RequestContext } from '../graphql/context.ts';
import type {
  DeviceFingerprintSignalsArgs,
  DeviceRiskDecision,
  QueryDeviceFingerprintArgs,
  Signal,
} from '../schema.generated.ts';
import type { Slice } from '../slice.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { unusedRegions } from '../upstream/settings.ts';
import type { Sealed } from './judgement-record.ts';
import type { FingerprintMetrics } from './metrics.ts';
import type { FingerprintOutcome, JudgedDevice } from './outcome.ts';
import { DEFAULT_POLICY } from './policy.ts';
import { type FingerprintRequest, toRequest, withTrusted } from './request.ts';
import type { Resolvers } from './resolvers.generated.ts';
import { judgementOf, type KnownJudgement, noSealingKeys } from './sealed-judgement.ts';
import { type FingerprintService, openFingerprintService } from './service.ts';
import { FINGERPRINT_VARIABLES, fingerprintRules } from './settings.ts';
import { FINGERPRINT_SDL, isAtLeast, SIGNAL_CATALOGUE } from './signal-catalogue.ts';

export type FingerprintParts = Pick<FingerprintService, 'maxUpstreamCalls' | 'query' | 'decide' | 'judgements'> & {
  readonly upstream: Pick<UpstreamClient, 'find'>;
  readonly metrics: Pick<FingerprintMetrics, 'recordLookup' | 'recordDroppedMetadata'>;
};

/** Looks up, decides about and judges the devices of one GraphQL request, each device once. */
export class DeviceRequest {
  readonly #parts: FingerprintParts;
  readonly #context: RequestContext;
  #loader: DataLoader<FingerprintRequest, FingerprintOutcome, string> | undefined;
  #calls = 0;
  /** An error is kept too, because one request can select `sealed` under hundreds of aliases. */
  readonly #sealed = new Map<JudgedDevice, Sealed | DeviceTrustError>();

  constructor(parts: FingerprintParts, context: RequestContext) {
    this.#parts = parts;
    this.#context = context;
  }

  /** Looks up the device of the caller's client, which trusted headers may describe. */
  device(args: QueryDeviceFingerprintArgs): Promise<FingerprintOutcome> {
    const { metadata, dropped } = withTrusted(args.metadata, this.#context.caller.metadata);
    for (const key of dropped) this.#parts.metrics.recordDroppedMetadata(key, 1);
    return this.lookUp({ ...args, metadata });
  }

  /** Looks up a token. Equal requests share one call. */
  async lookUp(args: QueryDeviceFingerprintArgs): Promise<FingerprintOutcome> {
    const { upstream, metrics } = this.#parts;
    const { operation } = this.#context;
    const request = toRequest(args, upstream);
    operation.recordLookup(request.token);
    metrics.recordLookup();
    this.#loader ??= new DataLoader((requests) => Promise.all(requests.map((one) => this.#query(one))), {
      cacheKeyFn: ({ key }) => key,
      // Each token is a call of its own, so a batch gains nothing by waiting for further tokens.
      batchScheduleFn: queueMicrotask,
    });
    const outcome = await this.#loader.load(request);
    operation.recordOutcome(outcome.__typename, outcome.__typename === 'DeviceFingerprint');
    return outcome;
  }

  /** A failure stays with its own request: DataLoader rejects only the entry that is an Error. */
  #query(request: FingerprintRequest): Promise<FingerprintOutcome | Error> {
    const { maxUpstreamCalls } = this.#parts;
    this.#calls += 1;
    if (this.#calls <= maxUpstreamCalls) return this.#parts.query(request, this.#context).catch(asError);
    const message = `One request may look up ${maxUpstreamCalls} different device tokens. Look up the others in another request.`;
    return Promise.resolve(new DeviceTrustError('OVERLOADED', { message, side: 'caller' }));
  }

  /** The decision of the risk policy about a device that `lookUp` returned. */
  decide(device: JudgedDevice): DeviceRiskDecision {
    device.decision ??= this.#parts.decide(device, this.#context.operation);
    return device.decision;
  }

  /** The judgement of a device that `lookUp` returned; refused without a key to seal it with. */
  judge(device: JudgedDevice): KnownJudgement | null {
    if (!this.#parts.judgements.hasKeys) return this.#context.refuseField(noSealingKeys);
    return { ...judgementOf(device, this.#context.caller.subject), about: device };
  }

  /** Opens a sealed judgement, without a call. @throws DeviceTrustError JUDGEMENT_UNREADABLE or NOT_CONFIGURED */
  openJudgement(sealed: string): KnownJudgement {
    const judgement = this.#parts.judgements.open(sealed);
    this.#context.operation.recordOutcome('DeviceJudgement', true);
    return judgement;
  }

  /** The decision of the policy about a judged device; of an opened judgement, the decision that was sealed. */
  decisionOf(judgement: KnownJudgement): DeviceRiskDecision | null {
    return 'about' in judgement ? this.decide(judgement.about) : (judgement.decision ?? null);
  }

  /** The sealed text of a judgement, the same in each call. @throws UPSTREAM_PROTOCOL_ERROR if identifiers are too long to seal */
  sealedOf(judgement: KnownJudgement): Sealed {
    if (!('about' in judgement)) return judgement;
    const { about } = judgement;
    const sealed =
      this.#sealed.get(about) ?? this.#parts.judgements.seal({ ...judgement, decision: this.decide(about) });
    this.#sealed.set(about, sealed);
    if (sealed instanceof DeviceTrustError) throw sealed;
    return sealed;
  }
}

const NAME = 'fingerprint';

const devicesOf = (context: RequestContext) => context.requestOf<DeviceRequest>(NAME);

const resolvers: Resolvers<RequestContext> = {
  Query: {
    deviceFingerprint: (_root, args, context) => devicesOf(context).device(args),
    signalCatalogue: () => [...SIGNAL_CATALOGUE],
  },
  DeviceFingerprint: {
    __resolveReference: async (reference, context) => {
      const { token } = reference;
      if (typeof token !== 'string') throw badUserInput('token', 'a string', 'something else');
      // Only the keys count: nobody has checked the other fields, and the trusted headers describe the viewer, not the device.
      const publicKey = 'publicKey' in reference ? reference.publicKey : null;
      const outcome = await devicesOf(context).lookUp({ token, publicKey });
      // A reference resolves to a DeviceFingerprint, not to a union with a rejection.
      if (outcome.__typename === 'DeviceFingerprintRejected') throw new DeviceTrustError('DEVICE_TOKEN_REJECTED');
      return outcome;
    },
    decision: (device, _args, context) => devicesOf(context).decide(device),
    judgement: (device, _args, context) => devicesOf(context).judge(device),
    signals,
  },
  DeviceJudgement: {
    __resolveReference: ({ sealed }, context) => {
      if (typeof sealed !== 'string') throw badUserInput('sealed', 'a string', 'something else');
      return devicesOf(context).openJudgement(sealed);
    },
    decision: (judgement, _args, context) => devicesOf(context).decisionOf(judgement),
    sealed: (judgement, _args, context) => devicesOf(context).sealedOf(judgement).sealed,
    isShortened: (judgement, _args, context) => devicesOf(context).sealedOf(judgement).isShortened,
    signals,
  },
};

function signals(
  { signals: all }: { readonly signals?: Signal[] | null },
  { minLevel, minConfidence }: Partial<DeviceFingerprintSignalsArgs>,
  context: RequestContext,
): Signal[] | null {
  if (minConfidence != null && !(minConfidence >= 0 && minConfidence <= 1))
    return context.refuseField(() => badUserInput('minConfidence', 'a number from 0 to 1', 'one outside'));
  if (!all || (minLevel == null && minConfidence == null)) return all ?? null;
  return all.filter(
    ({ level, confidence }) => isAtLeast(level, minLevel ?? 'LOW') && confidence >= (minConfidence ?? 0),
  );
}

export const fingerprintSlice: Slice<typeof FINGERPRINT_VARIABLES> = {
  name: NAME,
  typeDefs: FINGERPRINT_SDL,
  resolvers,
  variables: FINGERPRINT_VARIABLES,
  accounts: 'fingerprintApplications',
  quota: 'fingerprintQuota',
  usesMetadata: true,
  rules: fingerprintRules,
  summary: ({ upstreamMode, sealingKeys, riskPolicy }) => {
    const sealing = sealingKeys.length > 0 ? 'on' : upstreamMode === 'sandbox' ? 'of the sandbox' : 'off';
    return [`sealing: ${sealing}`, `policy: ${riskPolicy.id}${riskPolicy === DEFAULT_POLICY ? ', built-in' : ''}`];
  },
  unused: ({ fingerprintApplications }) =>
    unusedRegions(fingerprintApplications).map((region) => `fingerprintUrl${region}` as const),
  start: (options) => {
    const service = openFingerprintService(options);
    return { ...service, forRequest: (context) => new DeviceRequest(service, context) };
  },
};
