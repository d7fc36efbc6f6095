import { type SharedOptions, UpstreamClient } from '../upstream/client.ts';
import { FingerprintClient, fingerprintProbe } from './client.ts';
import { QUERY_TEMPLATE } from './contract.ts';
import type { FingerprintParts } from './device-request.ts';
import type { FingerprintMetrics } from './metrics.ts';
import { PolicyInUse, type RiskPolicy } from './policy.ts';
import { type ConfiguredApplication, prepareApplication } from './request.ts';
import { Judgements, type SealingKey } from './sealed-judgement.ts';
import type { FingerprintSettings } from './settings.ts';

type Options = SharedOptions &
  Pick<FingerprintSettings, 'fingerprintTimeoutMs' | 'maxUpstreamCalls'> & { readonly metrics: FingerprintMetrics };

/** The fingerprint service, with the policy and the judgements about its devices. */
export class FingerprintService implements FingerprintParts {
  readonly upstream: UpstreamClient;
  readonly client: FingerprintClient;
  readonly policyInUse: PolicyInUse;
  readonly judgements: Judgements;
  readonly metrics: FingerprintMetrics;
  readonly maxUpstreamCalls: number;

  constructor(
    options: Options,
    applications: readonly ConfiguredApplication[],
    sealingKeys: readonly SealingKey[],
    policy: RiskPolicy,
  ) {
    const { metrics, fingerprintTimeoutMs: timeoutMs } = options;
    this.metrics = metrics;
    this.maxUpstreamCalls = options.maxUpstreamCalls;
    this.upstream = new UpstreamClient({
      ...options,
      service: 'fingerprint',
      accounts: applications.map(prepareApplication),
      probeOf: fingerprintProbe,
      pathTemplate: QUERY_TEMPLATE,
      timeoutMs,
    });
    this.client = new FingerprintClient({ ...options, upstream: this.upstream });
    this.policyInUse = new PolicyInUse(policy, metrics);
    this.judgements = new Judgements(sealingKeys, metrics);
  }

  /** Replaces all applications at once. Requests under way keep theirs. */
  replace(applications: readonly ConfiguredApplication[]): void {
    this.upstream.replace(applications.map(prepareApplication));
  }
}
