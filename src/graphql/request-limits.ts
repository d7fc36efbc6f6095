/** How much one request may ask, whatever its operation is. */
export interface RequestLimits {
  /**
   * The cost, which counts lists as they turn out. The default of 119,000 is for the largest request that should pass: everything
   * about 1,000 references. Everything about one costs 107, of which 71 are ten signals with six fields each. The references
   * themselves cost 12,000 if they have 128 KiB. A field takes about 1 µs, so this is some 120 ms.
   */
  readonly maxCost: number;
  /** Entity references in all fields together. */
  readonly maxRepresentations: number;
  /** Calls to the fingerprint service. */
  readonly maxUpstreamCalls: number;
  readonly maxCaptchas: number;
}

/** What a request has cost so far, and what it may cost. */
export class CostBudget {
  readonly max: number;
  #spent = 0;

  constructor(max: number) {
    this.max = max;
  }

  get spent(): number {
    return this.#spent;
  }

  /** Did the request turn out to cost more than it may? Then its answer is given up. */
  get isOverspent(): boolean {
    return this.#spent > this.max;
  }

  spend(cost: number): void {
    this.#spent += cost;
  }
}
