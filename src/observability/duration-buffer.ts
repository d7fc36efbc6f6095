/** How many durations are kept before they are observed. */
const CAPACITY = 500;

interface Duration<Labels> {
  readonly labels: Labels;
  readonly seconds: number;
  /** The id of a trace that is exported. */
  readonly traceId: string | undefined;
}

/** As much of a Prometheus histogram with exemplars as the buffer needs. */
interface Histogram<Labels> {
  observe(observation: { labels: Labels; value: number; exemplarLabels?: { trace_id: string } }): void;
}

/**
 * Collects durations and observes them in batches. In the middle of a request, the code and data of the histogram are no
 * longer in the processor's caches, so that each observation costs several times as much as one of hundreds in a row. Flush
 * the buffer before the histogram is read.
 */
export class DurationBuffer<Labels> {
  readonly #histogram: Histogram<Labels>;
  #durations: Duration<Labels>[] = [];

  constructor(histogram: Histogram<Labels>) {
    this.#histogram = histogram;
  }

  /** Adds a duration in seconds, with the id of its trace if that is exported. */
  add(labels: Labels, seconds: number, traceId?: string): void {
    if (this.#durations.push({ labels, seconds, traceId }) === CAPACITY) this.flush();
  }

  /** Observes every duration that was added since the last time. */
  flush(): void {
    const durations = this.#durations;
    this.#durations = [];
    for (const { labels, seconds: value, traceId } of durations) {
      this.#histogram.observe({
        labels,
        value,
        ...(traceId !== undefined && { exemplarLabels: { trace_id: traceId } }),
      });
    }
  }
}
