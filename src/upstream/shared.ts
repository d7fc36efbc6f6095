import type { Logger } from 'pino';
import type { Metrics } from '../observability/metrics.ts';
import { DnsCache } from '../runtime/dns.ts';
import type { SharedOptions } from './client.ts';
import type { EventLoop } from './deadline.ts';
import { createUpstreamMetrics } from './metrics.ts';
import { openQuotas } from './quota.ts';
import type { QuotaLimits } from './settings.ts';

type Settings = Pick<SharedOptions, 'upstreamCheck' | 'upstreamMode' | 'upstreamMaxInFlight'> & {
  readonly quotaStoreUrl: string | undefined;
} & CallerSettings;

interface CallerSettings {
  readonly routerSecrets: readonly unknown[];
  readonly services: readonly { readonly name: string; readonly quota?: QuotaLimits | undefined }[];
}

interface Options {
  readonly settings: Settings;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly eventLoop: EventLoop;
}

/** Opens everything that the clients of all services share: their metrics, the store of quotas and the host names. */
export async function openUpstreams({ settings, log, metrics, eventLoop }: Options) {
  const upstreamMetrics = createUpstreamMetrics(metrics.registry);
  let callers = callersIn(settings);
  const quotas = await openQuotas({ ...settings, log, metrics: upstreamMetrics, eventLoop }, () => callers);
  const dns = new DnsCache({
    failed: (host, code, isFirst) => {
      metrics.recordFailedLookup();
      if (isFirst) log.warn({ internal: `look-up ${code} of ${host}` }, LOOKUP_FAILS);
    },
    recovered: (host) => log.info({ internal: `look-up of ${host}` }, 'The host name can be looked up again.'),
  });
  return {
    optionsOf: (service: string, limits: QuotaLimits | undefined): SharedOptions => ({
      ...settings,
      service,
      log,
      dns,
      eventLoop,
      metrics: upstreamMetrics,
      quota: quotas.of(service, limits),
      counter: quotas.counter,
    }),
    /** Replaces the callers that share quotas. */
    replaceCallers: (next: CallerSettings) => {
      callers = callersIn(next);
    },
    close: () => {
      dns.close();
      quotas.close();
    },
  };
}

const callersIn = ({ routerSecrets, services }: CallerSettings) => ({
  hasRouter: routerSecrets.length > 0,
  services: new Map(services.map(({ name, quota }) => [name, quota])),
});

const LOOKUP_FAILS =
  'A host name cannot be looked up because of our network: the resolver, a network policy, or the name. The known addresses are used for 5 minutes, and then every call fails.';
