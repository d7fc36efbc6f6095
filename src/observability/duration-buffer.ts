/** How many durations are kept before they are observed. */
const CAPACITY = 500;

/** As much of a Prometheus histogram as the buffer needs. */
interface Histogram<Labels> {
  observe(labels: Labels, seconds: number): void;
}

/**
 * Collects durations and observes them in batches. In the middle of a request, the code and data of the histogram are no
 * longer in the processor's caches, so that each observation costs several times as much as one of hundreds in a row. Flush
 * the buffer before the histogram is read.
 */
export class DurationBuffer<Labels> {
  readonly #histogram: Histogram<Labels>;
  #durations: { readonly labels: Labels; readonly seconds: number }[] = [];

  constructor(histogram: Histogram<Labels>) {
    this.#histogram = histogram;
  }

  /** Adds a duration in seconds. */
  add(labels: Labels, seconds: number): void {
    if (this.#durations.push({ labels, seconds }) === CAPACITY) this.flush();
  }

  /** Observes every duration that was added since the last time. */
  flush(): void {
    const durations = this.#durations;
    this.#durations = [];
    for (const { labels, seconds } of durations) this.#histogram.observe(labels, seconds);
  }
}
