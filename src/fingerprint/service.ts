import { logOnce } from '../observability/logger.ts';
import type { Operation } from '../observability/operation.ts';
import type { DeviceRiskDecision } from '../schema.generated.ts';
import type { StartOptions } from '../slice.ts';
import { type CallContext, UpstreamClient } from '../upstream/client.ts';
import type { Probe } from '../upstream/probe.ts';
import type { Account } from '../upstream/transport.ts';
import { QUERY_TEMPLATE } from './contract.ts';
import { createFingerprintMetrics } from './metrics.ts';
import { type FingerprintOutcome, interpret, probeResultOf, toRejection } from './outcome.ts';
import { decide, type PolicyInput } from './policy.ts';
import { type FingerprintRequest, prepareApplication, toBody } from './request.ts';
import { createJudgements } from './sealed-judgement.ts';
import type { FINGERPRINT_VARIABLES } from './settings.ts';

export type FingerprintService = ReturnType<typeof openFingerprintService>;

/** Opens the fingerprint service, with the policy and the judgements about its devices. */
export function openFingerprintService({ settings, shared, registry }: StartOptions<typeof FINGERPRINT_VARIABLES>) {
  const { maxUpstreamCalls, riskPolicy, sealingKeys, trustedHeaders } = settings;
  const metrics = createFingerprintMetrics(registry, riskPolicy, trustedHeaders?.metadata);
  const logDrift = logOnce(shared.log, 'the fingerprint service sent an undocumented value');
  const upstream = new UpstreamClient({
    ...shared,
    accounts: settings.fingerprintApplications.map((one) =>
      prepareApplication({ ...one, baseUrl: settings[`fingerprintUrl${one.region}`] }),
    ),
    probeOf: fingerprintProbe,
    pathTemplate: QUERY_TEMPLATE,
    timeoutMs: settings.fingerprintTimeoutMs,
    onCall: metrics.recordSentCall,
  });

  /** The decision of the policy about a device. Records the decision and those of shadow rules. */
  function decideAbout(device: PolicyInput, operation: Pick<Operation, 'recordDecision'>): DeviceRiskDecision {
    const shadows: string[] = [];
    const decision = decide(riskPolicy, device, (shadow) => {
      shadows.push(shadow.rule);
      metrics.recordDecision(shadow, true, device);
    });
    metrics.recordDecision(decision, false, device);
    operation.recordDecision(decision, shadows);
    return decision;
  }

  /** Looks up one token, and counts its signals. @throws see `UpstreamClient.call` */
  async function query(request: FingerprintRequest, context: CallContext): Promise<FingerprintOutcome> {
    // The service would reject an empty token (document, section 8), at the price of a call.
    if (request.token === '') return toRejection([EMPTY_TOKEN]);
    const { account, body } = request;
    const outcome = await upstream.call({ account, body, context }, (response) => {
      const reading = interpret(request, response, Date.now());
      for (const [kind, word] of reading.differences) {
        metrics.recordDrift(kind);
        if (word !== undefined) logDrift(`${kind}: ${PLAIN_WORD.test(word) ? word : 'another one'}`);
      }
      return reading;
    });
    if (outcome.__typename === 'DeviceFingerprint') for (const signal of outcome.signals) metrics.recordSignal(signal);
    return outcome;
  }

  const judgements = createJudgements(sealingKeys, metrics);
  return { upstream, maxUpstreamCalls, metrics, judgements, decide: decideAbout, query };
}

/** A word in the form of the document's words. No other word is kept or logged. */
const PLAIN_WORD = /^[\w/.-]{1,48}$/;

const EMPTY_TOKEN = {
  field: 'device_token',
  reason: 'expected a token of at least 1 character, but got none',
  type: 'string_too_short',
};

/**
 * A query with an empty token, which the service refuses (document, section 8). The document does not say whether it checks our
 * credentials before: if not, only calls show that they are wrong.
 */
export function fingerprintProbe(account: Account): Probe {
  return { ...account, body: () => toBody({ token: '' }), classify: probeResultOf };
}
