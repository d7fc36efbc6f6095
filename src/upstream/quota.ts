import type { Logger } from 'pino';
import { DeviceTrustError } from '../errors.ts';
import type { UpstreamMetrics, Window } from './metrics.ts';
import { openQuotaStore, type QuotaStore } from './quota-store.ts';

/** How many calls may be sent for one account. */
export interface QuotaLimits {
  readonly perSecond?: number | undefined;
  readonly perDay?: number | undefined;
}

/** One limit that is configured. A window begins with its first call. */
interface Limit {
  readonly window: Window;
  readonly ms: number;
  readonly calls: number;
  /** Counts in the store, if there is one. */
  readonly count: ReturnType<QuotaStore['counter']> | undefined;
}

/** The rest of a window that ends on the clock of `performance.now()`. A call that is one too many makes it negative. */
interface Rest {
  readonly left: number;
  readonly endsAt: number;
}

type QuotaMetrics = Pick<UpstreamMetrics, 'recordQuotaStore' | 'recordQuotaExceeded'>;

/**
 * The quota of one service, by account. Each process counts its own calls. Within a window the store can only lower the rest, by the
 * calls of others: a failover may lose counts, and no process alone may exceed the quota.
 */
export class Quota {
  readonly #service: string;
  readonly #limits: readonly Limit[];
  readonly #metrics: QuotaMetrics;
  readonly #known = new Map<string, Map<Limit, Rest>>();

  constructor(service: string, { perSecond, perDay }: QuotaLimits, metrics: QuotaMetrics, store?: QuotaStore) {
    const limitOf = (window: Window, ms: number, calls: number | undefined): Limit[] =>
      calls === undefined
        ? []
        : [{ window, ms, calls, count: store?.counter(`device-trust:${service}:${window}`, ms / 1_000) }];
    this.#service = service;
    // The second comes before the day, so that a call which is refused in its second costs nothing of the day.
    this.#limits = [...limitOf('second', 1_000, perSecond), ...limitOf('day', 86_400_000, perDay)];
    this.#metrics = metrics;
  }

  /** Is a limit of this account known to be used up? */
  isUsedUp(account: string): boolean {
    return this.#limits.some((limit) => this.#restOf(account, limit).left <= 0);
  }

  /** Refuses a call whose account has used up its quota, before the call enters the queue. */
  check(account: string): void {
    for (const limit of this.#limits) if (this.#restOf(account, limit).left <= 0) this.#refuse(account, limit);
  }

  /** Counts a call that is about to be sent, and refuses it if it is one too many. */
  async take(account: string): Promise<void> {
    this.check(account);
    for (const limit of this.#limits) {
      const { left, endsAt } = this.#restOf(account, limit);
      this.#learn(account, limit, { left: left - 1, endsAt });
      const told = await limit.count?.(account, (calls, msLeft) => {
        const rest = { left: limit.calls - calls, endsAt: performance.now() + msLeft };
        if (rest.left < this.#restOf(account, limit).left) this.#learn(account, limit, rest);
        return rest.left;
      });
      if (left < 1 || (told ?? 0) < 0) this.#refuse(account, limit);
    }
  }

  states(): (readonly [window: Window, { readonly limit: number; readonly left: number }])[] {
    return this.#limits.map((limit) => {
      const left = [...this.#known.keys()].map((account) => this.#restOf(account, limit).left);
      return [limit.window, { limit: limit.calls, left: Math.max(0, Math.min(limit.calls, ...left)) }];
    });
  }

  #restOf(account: string, limit: Limit): Rest {
    const known = this.#known.get(account)?.get(limit);
    const now = performance.now();
    return known && now < known.endsAt ? known : { left: limit.calls, endsAt: now + limit.ms };
  }

  #learn(account: string, limit: Limit, rest: Rest): void {
    const known = this.#known.get(account) ?? new Map<Limit, Rest>();
    this.#known.set(account, known.set(limit, rest));
  }

  #refuse(account: string, { window, calls }: Limit): never {
    this.#metrics.recordQuotaExceeded(this.#service, window);
    const internal = `quota of ${calls} calls a ${window} is used up for account ${account}`;
    // Retries within the same day would all fail.
    throw new DeviceTrustError('QUOTA_EXCEEDED', { internal, ...(window === 'day' && { retryable: false }) });
  }
}

interface Options {
  /** redis:// or rediss://, with its user and password, where all replicas count together. Without it each counts alone. */
  readonly quotaStoreUrl: string | undefined;
  readonly log: Logger;
  readonly metrics: QuotaMetrics;
}

/** Opens the store that the quotas of all services share. */
export async function openQuotas({ quotaStoreUrl, log, metrics }: Options) {
  const store = quotaStoreUrl === undefined ? undefined : await openQuotaStore(quotaStoreUrl, log, metrics);
  return {
    /** The quota of a service; undefined without limits. */
    of: (service: string, limits: QuotaLimits | undefined) => limits && new Quota(service, limits, metrics, store),
    close: () => store?.close(),
  };
}
