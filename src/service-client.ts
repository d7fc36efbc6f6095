import type { Logger } from 'pino';
import type { Config } from './config/variables.ts';
import type { Metrics } from './observability/metrics.ts';
import { reportHealth } from './observability/upstream-health.ts';
import { createUpstreamClient, type UpstreamClient, type UpstreamOptions } from './upstream/client.ts';

/** What the clients of all services share. */
interface Shared extends Pick<UpstreamOptions, 'quotaStore' | 'resolver' | 'eventLoop'> {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Opens the client of one service, and shows its calls, its health and its quotas in the log and the metrics. */
export function openService(
  service: string,
  own: Pick<UpstreamOptions, 'probes' | 'timeoutMs' | 'quotaLimits'>,
  { config, log, metrics, ...shared }: Shared,
): UpstreamClient {
  const client = createUpstreamClient({
    ...config,
    ...shared,
    ...own,
    service,
    onCall: (region, outcome, ms) => metrics.recordCall(service, region, outcome, ms),
    check: config.upstreamCheck,
    graceMs: config.upstreamCheckGraceMs,
    onChange: reportHealth(service, log, metrics, config.upstreamMode === 'sandbox' ? 'debug' : 'error'),
    onProbe: (region, result) => metrics.recordProbe(service, region, result),
    onQuotaRefused: (window) => metrics.recordQuotaRefusal(service, window),
  });
  metrics.watchBulkheads(service, client.bulkheads);
  metrics.watchHealth(service, () => client.health.all());
  metrics.watchQuota(service, client.quotaStates);
  return client;
}
