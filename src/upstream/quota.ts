import { DeviceTrustError } from '../errors.ts';
import type { Operation } from '../observability/operation.ts';
import { sharesOf } from '../runtime/shares.ts';
import type { UpstreamMetrics, Window } from './metrics.ts';
import type { QuotaStore } from './quota-store.ts';
import type { QuotaLimits } from './settings.ts';

/** The callers that share a quota. A service may also have a quota of its own. */
interface QuotaCallers {
  readonly hasRouter: boolean;
  readonly services: ReadonlyMap<string, QuotaLimits | undefined>;
}

type Caller = Pick<Operation, 'caller' | 'isService'>;

/** A limit for all callers, for all services together, or for one service. A window begins with its first call. */
interface Limit {
  readonly window: Window;
  readonly ms: number;
  readonly calls: number;
  /** The callers that are limited, as a part of the key of a count; empty for all callers. */
  readonly callerKey: string;
}

/** The calls in a window, including refused calls. `endsAt` is on the clock of `performance.now()`. */
interface Count {
  readonly calls: number;
  readonly endsAt: number;
}

export type Quota = ReturnType<typeof createQuota>;

const WINDOWS = [
  { window: 'second', key: 'perSecond', ms: 1_000 },
  { window: 'day', key: 'perDay', ms: 86_400_000 },
] as const;

/**
 * The quota of one service, by account, with these limits for all callers. Each process counts its own calls. Within a window
 * the store can only raise a count. So a failover that loses counts allows no more calls, and no process alone exceeds the quota.
 *
 * @param callers is called for each call, because a rotation can change the callers and their limits
 */
export function createQuota(
  service: string,
  limits: QuotaLimits,
  callers: () => QuotaCallers,
  metrics: Pick<UpstreamMetrics, 'recordQuotaExceeded'>,
  store?: QuotaStore,
) {
  const counts = new Map<string, Count>();
  const counters = new Map<string, ReturnType<QuotaStore['counter']>>();
  const forAll = WINDOWS.flatMap(({ window, key, ms }): Limit[] => {
    const calls = limits[key];
    return calls === undefined ? [] : [{ window, ms, calls, callerKey: '' }];
  });

  /**
   * The limits of a caller, in the order in which they count a call: seconds before days, so that a call refused by the limit of
   * a second is not counted for the day, and in each window the service's own limit before the shared limits.
   */
  function limitsOf({ caller, isService }: Caller): readonly Limit[] {
    if (!isService) return forAll;
    const { hasRouter, services } = callers();
    const own = services.get(caller);
    return WINDOWS.flatMap(({ window, key, ms }) => {
      const total = limits[key] ?? Number.POSITIVE_INFINITY;
      const { together, each } = sharesOf(total, { hasRouter, services: services.size });
      const calls = Math.floor(Math.min(each, own?.[key] ?? Number.POSITIVE_INFINITY));
      const ofServices = [
        { window, ms, calls, callerKey: `:service:${caller}` },
        { window, ms, calls: Math.floor(together), callerKey: ':services' },
      ];
      return [
        ...ofServices.filter((limit) => limit.calls < total),
        ...forAll.filter((limit) => limit.window === window),
      ];
    });
  }

  const keyOf = (account: string, { window, callerKey }: Limit) => `${window}${callerKey} ${account}`;

  function countOf(account: string, limit: Limit): Count {
    const count = counts.get(keyOf(account, limit));
    const now = performance.now();
    return count && now < count.endsAt ? count : { calls: 0, endsAt: now + limit.ms };
  }

  function countIn(account: string, limit: Limit) {
    const prefix = `device-trust:${service}:${limit.window}${limit.callerKey}`;
    const counter = counters.get(prefix) ?? store?.counter(prefix, limit.ms / 1_000);
    if (counter) counters.set(prefix, counter);
    return counter?.(account, (calls, msLeft) => {
      const isMore = calls > countOf(account, limit).calls;
      if (isMore) counts.set(keyOf(account, limit), { calls, endsAt: performance.now() + msLeft });
      return calls;
    });
  }

  function refuse(account: string, { window, calls, callerKey }: Limit): never {
    metrics.recordQuotaExceeded(service, window);
    const internal = `quota of ${calls} calls a ${window}${callerKey.replace(/:/g, ' ')} is used up for account ${account}`;
    // Retries within the same day would all fail.
    throw new DeviceTrustError('QUOTA_EXCEEDED', { internal, ...(window === 'day' && { retryable: false }) });
  }

  /** A limit of this account that is known to be used up. */
  const usedUp = (account: string, caller: Caller) =>
    limitsOf(caller).find((limit) => countOf(account, limit).calls >= limit.calls);

  /** Refuses a call whose account has used up its quota, before the call enters the queue. */
  function check(account: string, caller: Caller): void {
    const limit = usedUp(account, caller);
    if (limit) refuse(account, limit);
  }

  return {
    isUsedUp: (account: string, caller: Caller) => usedUp(account, caller) !== undefined,
    check,
    /** Counts a call that is about to be sent, and refuses it beyond a limit. */
    take: async (account: string, caller: Caller) => {
      check(account, caller);
      for (const limit of limitsOf(caller)) {
        const { calls, endsAt } = countOf(account, limit);
        counts.set(keyOf(account, limit), { calls: calls + 1, endsAt });
        const callsInStore = await countIn(account, limit);
        if (calls >= limit.calls || (callsInStore ?? 0) > limit.calls) refuse(account, limit);
      }
    },
    /** Each limit for all callers, with the rest of the account that has the least left. */
    states: (accounts: readonly string[]) =>
      forAll.map((limit) => {
        const calls = accounts.map((account) => countOf(account, limit).calls);
        return [limit.window, { limit: limit.calls, left: Math.max(0, limit.calls - Math.max(0, ...calls)) }] as const;
      }),
  };
}
