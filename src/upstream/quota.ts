import { DeviceTrustError } from '../errors.ts';
import type { QuotaState } from '../observability/metrics.ts';
import { Count, type Limit, type QuotaWindow, type SharedCounter, WINDOW_SECONDS } from './quota-count.ts';

/** How many calls may be sent for one account. */
export interface QuotaLimits {
  readonly perSecond?: number | undefined;
  readonly perDay?: number | undefined;
}

/** Where all replicas count together. */
export interface QuotaStore {
  /**
   * @param name names what is counted, such as `fingerprint:day`
   * @param seconds length of the window
   */
  counter(name: string, seconds: number): SharedCounter;
  close(): void;
}

/** Whether the store can be used. `cause` is the code or the name of the error that made it unusable. */
export type StoreState = { readonly isAway: false } | { readonly isAway: true; readonly cause: string };

interface QuotaOptions {
  readonly service: string;
  readonly limits: QuotaLimits;
  /** Without a store each process counts alone. */
  readonly store: QuotaStore | undefined;
  /** Called for each call that was refused. */
  readonly onRefused: (window: QuotaWindow) => void;
}

/** The quota of one service. Each of its accounts has its own count. */
export class Quota {
  readonly #limits: readonly Limit[];
  readonly #hasStore: boolean;
  readonly #onRefused: QuotaOptions['onRefused'];
  readonly #accounts = new Map<string, readonly Count[]>();

  constructor({ service, limits, store, onRefused }: QuotaOptions) {
    const { perSecond, perDay } = limits;
    const configured = [
      { window: 'second' as const, limit: perSecond },
      { window: 'day' as const, limit: perDay },
    ];
    this.#limits = configured.flatMap(({ window, limit }) => {
      if (limit === undefined) return [];
      return [{ window, limit, shared: store?.counter(`${service}:${window}`, WINDOW_SECONDS[window]) }];
    });
    this.#hasStore = store !== undefined;
    this.#onRefused = onRefused;
  }

  /**
   * Refuses a call whose account is known to have nothing left. It is asked before the call waits in the queue.
   *
   * @throws DeviceTrustError QUOTA_EXCEEDED
   */
  check(account: string): void {
    this.#checkAt(performance.now(), account);
  }

  /**
   * Counts a call that is about to be sent.
   *
   * @returns undefined if it may be sent at once; a promise if the store has to be asked first
   * @throws DeviceTrustError QUOTA_EXCEEDED; the promise rejects with the same
   */
  take(account: string): Promise<void> | undefined {
    if (this.#hasStore) return this.#takeFromAll(account);
    const now = performance.now();
    this.#checkAt(now, account);
    for (const count of this.#countsOf(account)) count.add(now);
    return undefined;
  }

  /** The state of each limit that is configured. */
  states(): (readonly [QuotaWindow, QuotaState])[] {
    const now = performance.now();
    const counts = [...this.#accounts.values()].flat();
    return this.#limits.map(({ window, limit }) => {
      const left = counts.filter((count) => count.window === window).map((count) => count.left(now));
      return [window, { limit, left: Math.max(0, Math.min(limit, ...left)) }];
    });
  }

  #checkAt(now: number, account: string): void {
    for (const count of this.#countsOf(account)) if (count.left(now) <= 0) this.#refuse(account, count);
  }

  /** The second is counted before the day, so that a call which is refused in its second costs nothing of the day. */
  async #takeFromAll(account: string): Promise<void> {
    for (const count of this.#countsOf(account)) {
      if (!(await count.take(account))) this.#refuse(account, count);
    }
  }

  #refuse(account: string, { window, limit }: Count): never {
    this.#onRefused(window);
    const internal = `quota of ${limit} calls a ${window} is used up for account ${account}`;
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
