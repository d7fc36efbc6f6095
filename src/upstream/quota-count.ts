/** The times for which calls are counted. A window begins with its first call. */
export type QuotaWindow = 'second' | 'day';

export const WINDOW_SECONDS: Readonly<Record<QuotaWindow, number>> = { second: 1, day: 86_400 };

/** What the store has counted for one account in its present window. */
export interface SharedCount {
  /** Calls of all replicas. */
  readonly used: number;
  readonly endsInMs: number;
}

/** Counts calls for all replicas together, in one window. Resolves with undefined, and never rejects, if the store is away. */
export type SharedCounter = (account: string, calls: number) => Promise<SharedCount | undefined>;

/** A limit that is configured. */
export interface Limit {
  readonly window: QuotaWindow;
  readonly limit: number;
  readonly shared: SharedCounter | undefined;
}

/**
 * The calls of one account in one window. The time is monotonic: a wall clock that is set forward would give a new quota, and
 * one that is set back would block it. With a store this is what the store last said, so that a process which loses the
 * store continues with the count of all replicas.
 */
export class Count {
  readonly window: QuotaWindow;
  readonly limit: number;
  readonly #shared: SharedCounter | undefined;
  #used = 0;
  #endsAt = 0;
  /** Calls that were counted here alone while the store was away. The store gets them with the next call. */
  #unshared = 0;

  constructor({ window, limit, shared }: Limit) {
    this.window = window;
    this.limit = limit;
    this.#shared = shared;
  }

  hasEnded(now: number): boolean {
    return now >= this.#endsAt;
  }

  left(now: number): number {
    return this.hasEnded(now) ? this.limit : this.limit - this.#used;
  }

  /** Counts a call in this process. */
  add(now: number): void {
    if (this.hasEnded(now)) this.#begin(0, now + WINDOW_SECONDS[this.window] * 1_000);
    this.#used += 1;
  }

  /** Counts a call in the store, or here while the store is away. Resolves with whether it may be sent. */
  async take(account: string): Promise<boolean> {
    const unshared = this.hasEnded(performance.now()) ? 0 : this.#unshared;
    this.#unshared = 0;
    const count = await this.#shared?.(account, 1 + unshared);
    const now = performance.now();
    if (count) {
      this.#adopt(count, now);
      return count.used <= this.limit;
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
