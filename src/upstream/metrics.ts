import type { LIMITS } from '../callers/limits.ts';
import type { ErrorCode } from '../errors.ts';
import type { MetricsRegistry } from '../observability/metrics.ts';
import type { Bulkhead } from './bulkhead.ts';
import { type Evidence, HEALTH_STATES, type HealthState, type HealthStatus } from './health-table.ts';

type Window = (typeof LIMITS)[number]['window'];

/** A response as documented: a judgement or a pass, the refusal of an input, or a failure that the service reports. */
export type DocumentedOutcome = 'ok' | 'rejected' | 'exception';
/** The outcome of a call: that of a documented response; of any other, such as a firewall's, its status; or its error. */
export type CallOutcome = DocumentedOutcome | 'http_429' | 'http_4xx' | 'http_5xx' | ErrorCode;

interface FinishedCall {
  readonly service: string;
  readonly region?: string | undefined;
  readonly outcome: CallOutcome;
  readonly ms: number;
}

/** The windows of a quota's limits, and each limit with the calls left to the account that has the fewest. */
interface WatchedQuota {
  readonly windows: readonly Window[];
  states(accounts: readonly string[]): readonly (readonly [Window, { limit: number; left: number }])[];
}

export type UpstreamMetrics = ReturnType<typeof createUpstreamMetrics>;

/** The metrics of calls, accounts and quotas, by the names of the services. Without regions, the `region` label is empty. */
export function createUpstreamMetrics({ counter, gauge, histogram, onCollect }: MetricsRegistry) {
  const perRegion = ['service', 'region'] as const;
  const perAccount = [...perRegion, 'account'] as const;
  const perWindow = ['service', 'window'] as const;
  const duration = 'Duration of upstream calls, by service, region and outcome';
  const callSeconds = histogram('upstream_duration_seconds', duration, ...perRegion, 'outcome');
  const inFlight = gauge('upstream_in_flight', 'Upstream calls in flight', ...perRegion);
  const maxInFlight = gauge('upstream_in_flight_limit', 'Upstream calls that may be in flight at once', ...perRegion);
  const queued = gauge('upstream_queued', 'Upstream calls that wait in the queue', ...perRegion);
  const states = gauge('upstream_health', '1 for the state that the account is in, else 0', ...perAccount, 'state');
  const worked = gauge('upstream_has_worked', '1 once the account has worked in this process, else 0', ...perAccount);
  const outages = counter('upstream_outages_total', 'Outages that probes have confirmed, by account', ...perAccount);
  const probes = counter('upstream_probes_total', 'Probes of accounts, by result', ...perRegion, 'result');
  const quotaLimit = gauge('quota_limit', 'Calls that the quota allows for each account', ...perWindow);
  const least = 'Calls left of the quota, for the account with the least left';
  const quotaLeft = gauge('quota_remaining', least, ...perWindow);
  const refusals = counter('quota_refused_total', 'Calls that were refused because the quota is used up', ...perWindow);
  const storeAway = gauge('quota_store_away', '1 while the quota store is away, refuses or is late, else 0');

  // A counter cannot be set.
  onCollect(() => outages.reset());

  return {
    recordCall: ({ service, region = '', outcome, ms }: FinishedCall) =>
      callSeconds.observe({ service, region, outcome }, ms / 1_000),
    recordProbe: (service: string, region: string | undefined, result: Evidence) =>
      probes.inc({ service, region: region ?? '', result }),
    recordQuotaExceeded: (service: string, window: Window) => refusals.inc({ service, window }),
    recordQuotaStore: (isAway: boolean) => storeAway.set(Number(isAway)),
    watchService: (
      service: string,
      accounts: ReadonlyMap<string, { status: HealthStatus; shownState: HealthState; region: string | undefined }>,
      bulkheads: ReadonlyMap<string, Bulkhead>,
      quota: WatchedQuota,
    ) => {
      for (const window of quota.windows) refusals.inc({ service, window }, 0);
      onCollect(() => {
        for (const [window, { limit, left }] of quota.states([...accounts.keys()])) {
          quotaLimit.set({ service, window }, limit);
          quotaLeft.set({ service, window }, left);
        }
        for (const [region, bulkhead] of bulkheads) {
          inFlight.set({ service, region }, bulkhead.inFlight);
          maxInFlight.set({ service, region }, bulkhead.maxInFlight);
          queued.set({ service, region }, bulkhead.queued);
        }
        for (const [account, { status, shownState, region = '' }] of accounts) {
          const ids = { service, region, account };
          for (const state of HEALTH_STATES) states.set({ ...ids, state }, Number(state === shownState));
          worked.set(ids, Number(status.hasWorked));
          outages.inc(ids, status.outages);
        }
      });
    },
  };
}
