/**
 * Counts by two labels, as cheaply as can be. A Prometheus counter makes a key of its labels for each step, which is too
 * much for what happens several times a request; it takes over what has come together when somebody looks.
 */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  add(first: string, second: string): void {
    const counts = this.#counts.get(first) ?? new Map<string, number>();
    if (counts.size === 0) this.#counts.set(first, counts);
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }

  /** Hands over everything counted since the last time. */
  drain(take: (first: string, second: string, count: number) => void): void {
    for (const [first, counts] of this.#counts) for (const [second, count] of counts) take(first, second, count);
    this.#counts.clear();
  }
}
