/** So many durations are handed over together. */
const FULL = 500;

/** Takes durations; a Prometheus histogram is one. */
interface Histogram<Labels> {
  observe(labels: Labels, value: number): void;
}

/**
 * Durations on their way into a histogram. One that is observed in the middle of a request finds the histogram's code and
 * data pushed out of the processor's caches; a few hundred in a row cost a fraction of that. Whoever looks drains it first.
 */
export class Backlog<Labels> {
  readonly #histogram: Histogram<Labels>;
  #waiting: { readonly labels: Labels; readonly seconds: number }[] = [];

  constructor(histogram: Histogram<Labels>) {
    this.#histogram = histogram;
  }

  add(labels: Labels, seconds: number): void {
    if (this.#waiting.push({ labels, seconds }) === FULL) this.drain();
  }

  drain(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { labels, seconds } of waiting) this.#histogram.observe(labels, seconds);
  }
}
