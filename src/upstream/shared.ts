import type { Logger } from 'pino';
import type { Metrics } from '../observability/metrics.ts';
import { createDnsCache } from '../runtime/dns.ts';
import type { SharedOptions } from './client.ts';
import type { EventLoop } from './deadline.ts';
import { createUpstreamMetrics } from './metrics.ts';
import { createQuota } from './quota.ts';
import { countersOfProcess, openQuotaStore } from './quota-store.ts';
import type { QuotaLimits, UpstreamSettings } from './settings.ts';

interface Settings extends UpstreamSettings {
  readonly routerSecrets: readonly unknown[];
  readonly services: readonly { readonly name: string; readonly quota?: QuotaLimits | undefined }[];
}

interface Options {
  readonly settings: Settings;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly eventLoop: EventLoop;
}

/** Opens what the clients of all services share: the metrics, the quota store and the DNS cache. */
export async function openUpstreams({ settings, log, metrics, eventLoop }: Options) {
  const upstreamMetrics = createUpstreamMetrics(metrics.registry);
  const { quotaStoreUrl, routerSecrets, services } = settings;
  const limitsOf = new Map(services.map(({ name, quota }) => [name, quota]));
  const callers = { hasRouter: routerSecrets.length > 0, services: limitsOf };
  const storeOptions = { log, metrics: upstreamMetrics };
  const store = quotaStoreUrl === undefined ? undefined : await openQuotaStore(quotaStoreUrl, storeOptions);
  const counters = store?.counters ?? countersOfProcess();
  const dns = createDnsCache({
    failed: (host, code, isFirst) => {
      metrics.recordFailedLookup();
      if (isFirst) log.warn({ internal: `look-up ${code} of ${host}` }, LOOKUP_FAILS);
    },
    recovered: (host) => log.info({ internal: `look-up of ${host}` }, 'The host name can be looked up again.'),
  });
  return {
    optionsOf: (service: string, limits: QuotaLimits = {}): SharedOptions => ({
      ...settings,
      service,
      log,
      dns,
      eventLoop,
      metrics: upstreamMetrics,
      quota: createQuota(service, limits, callers, upstreamMetrics, counters),
    }),
    close: () => store?.close(),
  };
}

const LOOKUP_FAILS =
  'A host name cannot be looked up because of our network: the resolver, a network policy, or the name. The known addresses are used for 5 minutes, and then every call fails.';
