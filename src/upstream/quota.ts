import { DeviceTrustError } from '../errors.ts';
import type { Metrics, QuotaState } from '../observability/metrics.ts';
import type { QuotaStore, SharedCount } from './quota-store.ts';

/** How many calls may be sent for one account. */
export interface QuotaLimits {
  readonly perSecond?: number | undefined;
  readonly perDay?: number | undefined;
}

/** One limit that is configured. A window begins with its first call. */
interface Limit {
  readonly window: 'second' | 'day';
  readonly calls: number;
  readonly windowMs: number;
}

/** The quota of one service. Each of its accounts has its own count. */
export class Quota {
  readonly #service: string;
  readonly #limits: readonly Limit[];
  readonly #store: QuotaStore | undefined;
  readonly #metrics: Pick<Metrics, 'recordQuotaRefusal'>;
  readonly #accounts = new Map<string, readonly Count[]>();

  /** @param store where all replicas count together; without one each process counts alone */
  constructor(
    service: string,
    { perSecond, perDay }: QuotaLimits,
    store: QuotaStore | undefined,
    metrics: Pick<Metrics, 'recordQuotaRefusal'>,
  ) {
    this.#service = service;
    // The second comes before the day, so that a call which is refused in its second costs nothing of the day.
    this.#limits = [
      ...(perSecond === undefined ? [] : [{ window: 'second' as const, calls: perSecond, windowMs: 1_000 }]),
      ...(perDay === undefined ? [] : [{ window: 'day' as const, calls: perDay, windowMs: 86_400_000 }]),
    ];
    this.#store = store;
    this.#metrics = metrics;
  }

  /** Is a limit of this account known to be used up? */
  isUsedUp(account: string): boolean {
    const now = performance.now();
    return this.#countsOf(account).some((count) => count.left(now) <= 0);
  }

  /**
   * Refuses a call whose account is known to have nothing left. It is asked before the call waits in the queue.
   *
   * @throws DeviceTrustError QUOTA_EXCEEDED
   */
  check(account: string): void {
    const now = performance.now();
    for (const count of this.#countsOf(account)) if (count.left(now) <= 0) this.#refuse(account, count);
  }

  /**
   * Counts a call that is about to be sent.
   *
   * @throws DeviceTrustError QUOTA_EXCEEDED
   */
  async take(account: string): Promise<void> {
    const counts = this.#countsOf(account);
    if (!this.#store) {
      this.check(account);
      const now = performance.now();
      for (const count of counts) count.add(now);
      return;
    }
    for (const count of counts) {
      const key = `${this.#service}:${count.limit.window}:${account}`;
      if (!(await count.take(this.#store, key))) this.#refuse(account, count);
    }
  }

  states(): (readonly [window: string, QuotaState])[] {
    const now = performance.now();
    const counts = [...this.#accounts.values()].flat();
    return this.#limits.map((limit) => {
      const left = counts.filter((count) => count.limit === limit).map((count) => count.left(now));
      return [limit.window, { limit: limit.calls, left: Math.max(0, Math.min(limit.calls, ...left)) }];
    });
  }

  #refuse(account: string, { limit: { window, calls } }: Count): never {
    this.#metrics.recordQuotaRefusal(this.#service, window);
    const internal = `quota of ${calls} calls a ${window} is used up for account ${account}`;
    // A client that tried again within a time that makes sense to it would fail all day.
    throw new DeviceTrustError('QUOTA_EXCEEDED', { internal, ...(window === 'day' && { retryable: false }) });
  }

  #countsOf(account: string): readonly Count[] {
    const known = this.#accounts.get(account);
    if (known) return known;
    const now = performance.now();
    // A rotation can remove an account. Its counts are dropped once they mean nothing any more.
    for (const [other, counts] of this.#accounts) {
      if (counts.every((count) => count.hasEnded(now))) this.#accounts.delete(other);
    }
    const counts = this.#limits.map((limit) => new Count(limit));
    this.#accounts.set(account, counts);
    return counts;
  }
}

/**
 * The calls of one account in one window. The time is monotonic: a wall clock that is set forward would give a new quota, and
 * one that is set back would block it. With a store this is what the store last said, so that a process which loses the
 * store continues with the count of all replicas.
 */
class Count {
  readonly limit: Limit;
  #used = 0;
  #endsAt = 0;
  /** Calls that were counted here alone while the store was away. The store gets them with the next call. */
  #unshared = 0;

  constructor(limit: Limit) {
    this.limit = limit;
  }

  hasEnded(now: number): boolean {
    return now >= this.#endsAt;
  }

  left(now: number): number {
    return this.limit.calls - (this.hasEnded(now) ? 0 : this.#used);
  }

  add(now: number): void {
    if (this.hasEnded(now)) this.#begin(0, now + this.limit.windowMs);
    this.#used += 1;
  }

  /** Counts a call in the store, or here while the store is away. Resolves with whether the call may be sent. */
  async take(store: QuotaStore, key: string): Promise<boolean> {
    const unshared = this.hasEnded(performance.now()) ? 0 : this.#unshared;
    this.#unshared = 0;
    const count = await store.count(key, 1 + unshared, this.limit.windowMs);
    const now = performance.now();
    if (count) {
      this.#adopt(count, now);
      return count.used <= this.limit.calls;
    }
    this.#unshared += unshared;
    if (this.left(now) <= 0) return false;
    this.add(now);
    this.#unshared += 1;
    return true;
  }

  /** A smaller count than ours is of a later window, or of a store that lost its data. It is adopted once ours has ended. */
  #adopt({ used, endsInMs }: SharedCount, now: number): void {
    if (this.hasEnded(now)) this.#begin(used, now + endsInMs);
    else if (used >= this.#used) {
      this.#used = used;
      this.#endsAt = now + endsInMs;
    }
  }

  #begin(used: number, endsAt: number): void {
    this.#used = used;
    this.#endsAt = endsAt;
    this.#unshared = 0;
  }
}
