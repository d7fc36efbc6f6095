/** How many durations are kept before they are observed. */
const CAPACITY = 500;

/** As much of a Prometheus histogram as the buffer needs. */
interface Histogram<Labels> {
  observe(labels: Labels, seconds: number): void;
}

/**
 * Keeps durations back from a histogram and observes them in batches. In the middle of a request, the code and data of the
 * histogram are no longer in the processor's caches; observing hundreds in a row costs a fraction for each. Flush it before
 * the histogram is read.
 */
export class DurationBuffer<Labels> {
  readonly #histogram: Histogram<Labels>;
  #durations: { readonly labels: Labels; readonly seconds: number }[] = [];

  constructor(histogram: Histogram<Labels>) {
    this.#histogram = histogram;
  }

  add(labels: Labels, seconds: number): void {
    if (this.#durations.push({ labels, seconds }) === CAPACITY) this.flush();
  }

  flush(): void {
    const durations = this.#durations;
    this.#durations = [];
    for (const { labels, seconds } of durations) this.#histogram.observe(labels, seconds);
  }
}
