import type { RequestContext } from '../graphql/context.ts';
import { logOnce } from '../observability/logger.ts';
import type { Operation } from '../observability/operation.ts';
import type { DeviceRiskDecision } from '../schema.generated.ts';
import type { RunningSlice, StartOptions } from '../slice.ts';
import { type CallingOperation, UpstreamClient } from '../upstream/client.ts';
import type { Probe } from '../upstream/probe.ts';
import { withAddresses } from '../upstream/settings.ts';
import type { Account } from '../upstream/transport.ts';
import { QUERY_TEMPLATE } from './contract.ts';
import { createFingerprintMetrics, type FingerprintMetrics } from './metrics.ts';
import { type FingerprintOutcome, probeResultOf, toOutcome, toRejection } from './outcome.ts';
import { decide, type PolicyInput, type RiskPolicy } from './policy.ts';
import { type FingerprintRequest, prepareApplication, toBody } from './request.ts';
import { DeviceRequest } from './resolvers.ts';
import { createJudgements, type Judgements } from './sealed-judgement.ts';
import type { FINGERPRINT_VARIABLES } from './settings.ts';

type Rows = typeof FINGERPRINT_VARIABLES;

/** The fingerprint service, with the policy and the judgements about its devices. */
export class FingerprintService implements RunningSlice {
  readonly upstream: UpstreamClient;
  readonly #policy: RiskPolicy;
  readonly judgements: Judgements;
  readonly metrics: FingerprintMetrics;
  readonly maxUpstreamCalls: number;
  readonly #logDrift: (cause: string) => void;

  constructor({ settings, shared, registry }: StartOptions<Rows>) {
    const metrics = createFingerprintMetrics(registry, settings.trustedHeaders?.metadata);
    this.metrics = metrics;
    this.#logDrift = logOnce(shared.log, 'the fingerprint service sent an undocumented value');
    this.maxUpstreamCalls = settings.maxUpstreamCalls;
    this.upstream = new UpstreamClient({
      ...shared,
      accounts: withAddresses(settings.fingerprintApplications, (region) => settings[`fingerprintUrl${region}`]).map(
        prepareApplication,
      ),
      probeOf: fingerprintProbe,
      pathTemplate: QUERY_TEMPLATE,
      timeoutMs: settings.fingerprintTimeoutMs,
      onCall: metrics.recordSentCall,
    });
    this.#policy = settings.riskPolicy;
    metrics.beginDecisions(this.#policy);
    this.judgements = createJudgements(settings.sealingKeys, metrics);
  }

  forRequest(context: RequestContext): DeviceRequest {
    return new DeviceRequest(this, context);
  }

  /** The decision of the policy about a device. Records the decision and those of shadow rules. */
  decide(device: PolicyInput, operation: Pick<Operation, 'recordDecision'>): DeviceRiskDecision {
    // Callers choose the event: only a word of the policy may become a label.
    const eventTypes = this.#policy.rules.flatMap(({ when }) => when.eventType ?? []);
    const eventType = eventTypes.find((one) => one === device.eventType);
    const about = { clientType: device.clientType, eventType };
    const shadows: string[] = [];
    const decision = decide(this.#policy, device, (shadow) => {
      shadows.push(shadow.rule);
      this.metrics.recordDecision(shadow, true, about);
    });
    this.metrics.recordDecision(decision, false, about);
    operation.recordDecision(decision, shadows);
    return decision;
  }

  /** Looks up one token, and counts its signals. @throws see `UpstreamClient.call` */
  async query(request: FingerprintRequest, operation: CallingOperation): Promise<FingerprintOutcome> {
    // The service would reject an empty token (document, section 8), at the price of a call.
    if (request.token === '') return toRejection([EMPTY_TOKEN]);
    const { account, body } = request;
    // Each documented outcome shows that the service works. `toOutcome` throws for any other response.
    const { outcome, differences } = await this.upstream.call({ account, body, operation }, (response) => {
      const result = toOutcome(request, response, Date.now());
      const isJudged = result.outcome.__typename === 'DeviceFingerprint';
      return { result, evidence: 'well', outcome: isJudged ? 'ok' : 'rejected' };
    });
    for (const [kind, word] of differences) {
      this.metrics.recordDrift(kind);
      if (word !== undefined) this.#logDrift(`${kind}: ${PLAIN_WORD.test(word) ? word : 'another one'}`);
    }
    if (outcome.__typename === 'DeviceFingerprint')
      for (const signal of outcome.signals) this.metrics.recordSignal(signal);
    return outcome;
  }
}

/** A word in the form of the document's words. No other word is kept or logged. */
const PLAIN_WORD = /^[\w/.-]{1,48}$/;

const EMPTY_TOKEN = {
  field: 'device_token',
  reason: 'expected a token of at least 1 character, but got none',
  type: 'string_too_short',
};

/** A query with an empty token. The service refuses it after it has checked our credentials (document, section 8). */
export function fingerprintProbe(account: Account): Probe {
  return { ...account, body: () => toBody({ token: '' }), classify: probeResultOf };
}
