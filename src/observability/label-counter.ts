/**
 * Counts by two labels. Incrementing a Prometheus counter builds a key out of its labels each time, which costs too much for
 * what happens several times in a request. So counts are kept here, and moved into the counter when Prometheus reads it.
 */
export class LabelCounter {
  readonly #counts = new Map<string, Map<string, number>>();

  /** Counts one more for this pair of labels. */
  increment(first: string, second: string): void {
    const counts = this.#counts.get(first) ?? new Map<string, number>();
    if (counts.size === 0) this.#counts.set(first, counts);
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }

  /** Calls `add` with each count since the last time, and starts again at zero. */
  drain(add: (first: string, second: string, count: number) => void): void {
    for (const [first, counts] of this.#counts) for (const [second, count] of counts) add(first, second, count);
    this.#counts.clear();
  }
}
