/** Allows something at most so many times within any stretch of time of this length. */
export class SlidingWindow {
  readonly #windowMs: number;
  /** When each of the last ones was allowed. The oldest is at `#oldest`. */
  readonly #times: Float64Array;
  #oldest = 0;

  constructor(limit: number, windowMs: number) {
    this.#windowMs = windowMs;
    this.#times = new Float64Array(limit).fill(Number.NEGATIVE_INFINITY);
  }

  /**
   * Counts one more if the limit allows it.
   *
   * @param now of a monotonic clock, in ms
   * @returns whether it was allowed
   */
  take(now = performance.now()): boolean {
    const oldest = this.#times[this.#oldest];
    // It is undefined if the limit is 0.
    if (oldest === undefined || now - oldest < this.#windowMs) return false;
    this.#times[this.#oldest] = now;
    this.#oldest = (this.#oldest + 1) % this.#times.length;
    return true;
  }
}
