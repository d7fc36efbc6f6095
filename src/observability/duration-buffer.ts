/** How many durations are kept before they are observed. */
const CAPACITY = 500;

/** A duration in seconds, with the id of its trace if that is exported. */
interface Observation<Labels> {
  readonly labels: Labels;
  readonly value: number;
  readonly exemplarLabels?: { readonly trace_id: string };
}

/** As much of a Prometheus histogram with exemplars as the buffer needs. */
interface Histogram<Labels> {
  observe(observation: Observation<Labels>): void;
}

/**
 * Collects durations and observes them in batches. In the middle of a request, the code and data of the histogram are no
 * longer in the processor's caches, so that each observation costs several times as much as one of hundreds in a row. Flush
 * the buffer before the histogram is read.
 */
export class DurationBuffer<Labels> {
  readonly #histogram: Histogram<Labels>;
  #observations: Observation<Labels>[] = [];

  constructor(histogram: Histogram<Labels>) {
    this.#histogram = histogram;
  }

  /** Adds a duration in seconds, with the id of its trace if that is exported. */
  add(labels: Labels, value: number, traceId?: string): void {
    const observation =
      traceId === undefined ? { labels, value } : { labels, value, exemplarLabels: { trace_id: traceId } };
    if (this.#observations.push(observation) === CAPACITY) this.flush();
  }

  /** Observes every duration that was added since the last time. */
  flush(): void {
    const observations = this.#observations;
    this.#observations = [];
    for (const observation of observations) this.#histogram.observe(observation);
  }
}
