import type { Logger } from 'pino';
import { DeviceTrustError } from '../errors.ts';
import type { EventLoop } from './deadline.ts';
import type { UpstreamMetrics, Window } from './metrics.ts';
import { openQuotaStore, type QuotaStore } from './quota-store.ts';
import type { QuotaLimits } from './settings.ts';

/** One limit that is configured. A window begins with its first call. */
interface Limit {
  readonly window: Window;
  readonly ms: number;
  readonly calls: number;
  /** Counts in the store, if there is one. */
  readonly count: ReturnType<QuotaStore['counter']> | undefined;
}

/** The calls left in a window, which ends on the clock of `performance.now()`. A call too many makes it negative. */
interface Rest {
  readonly left: number;
  readonly endsAt: number;
}

type QuotaMetrics = Pick<UpstreamMetrics, 'recordQuotaStore' | 'recordQuotaExceeded'>;

export type Quota = ReturnType<typeof createQuota>;

/**
 * The quota of one service, by account. Each process counts its own calls. Within a window the store can only lower the
 * rest, by the calls of others: a failover may lose counts, and no process alone may exceed the quota.
 */
function createQuota(service: string, { perSecond, perDay }: QuotaLimits, metrics: QuotaMetrics, store?: QuotaStore) {
  const limitOf = (window: Window, ms: number, calls: number | undefined): Limit[] =>
    calls === undefined
      ? []
      : [{ window, ms, calls, count: store?.counter(`device-trust:${service}:${window}`, ms / 1_000) }];
  // The second comes before the day, so that a call which is refused in its second costs nothing of the day.
  const limits = [...limitOf('second', 1_000, perSecond), ...limitOf('day', 86_400_000, perDay)];
  const known = new Map<string, Map<Limit, Rest>>();

  function restOf(account: string, limit: Limit): Rest {
    const rest = known.get(account)?.get(limit);
    const now = performance.now();
    return rest && now < rest.endsAt ? rest : { left: limit.calls, endsAt: now + limit.ms };
  }

  function learn(account: string, limit: Limit, rest: Rest): void {
    const rests = known.get(account) ?? new Map<Limit, Rest>();
    known.set(account, rests.set(limit, rest));
  }

  function refuse(account: string, { window, calls }: Limit): never {
    metrics.recordQuotaExceeded(service, window);
    const internal = `quota of ${calls} calls a ${window} is used up for account ${account}`;
    // Retries within the same day would all fail.
    throw new DeviceTrustError('QUOTA_EXCEEDED', { internal, ...(window === 'day' && { retryable: false }) });
  }

  const usedUp = (account: string) => limits.find((limit) => restOf(account, limit).left <= 0);

  /** Refuses a call whose account has used up its quota, before the call enters the queue. */
  function check(account: string): void {
    const limit = usedUp(account);
    if (limit) refuse(account, limit);
  }

  return {
    /** Is a limit of this account known to be used up? */
    isUsedUp: (account: string) => usedUp(account) !== undefined,
    check,
    /** Counts a call that is about to be sent, and refuses it beyond a limit. */
    take: async (account: string) => {
      check(account);
      for (const limit of limits) {
        const { left, endsAt } = restOf(account, limit);
        learn(account, limit, { left: left - 1, endsAt });
        const leftInStore = await limit.count?.(account, (calls, msLeft) => {
          const rest = { left: limit.calls - calls, endsAt: performance.now() + msLeft };
          if (rest.left < restOf(account, limit).left) learn(account, limit, rest);
          return rest.left;
        });
        if (left < 1 || (leftInStore ?? 0) < 0) refuse(account, limit);
      }
    },
    /** Each limit, with the rest of the account that has the least left. */
    states: () =>
      limits.map((limit) => {
        const left = [...known.keys()].map((account) => restOf(account, limit).left);
        return [limit.window, { limit: limit.calls, left: Math.max(0, Math.min(limit.calls, ...left)) }] as const;
      }),
  };
}

interface Options {
  /** redis:// or rediss://, with its user and password, where all replicas count together. Without it each counts alone. */
  readonly quotaStoreUrl: string | undefined;
  readonly log: Logger;
  readonly metrics: QuotaMetrics;
  readonly eventLoop: EventLoop;
}

/** Opens the store that the quotas of all services share. */
export async function openQuotas({ quotaStoreUrl, metrics, ...options }: Options) {
  const store = quotaStoreUrl === undefined ? undefined : await openQuotaStore(quotaStoreUrl, { ...options, metrics });
  return {
    /** The quota of a service; undefined without limits. */
    of: (service: string, limits: QuotaLimits | undefined) => limits && createQuota(service, limits, metrics, store),
    close: () => store?.close(),
  };
}
