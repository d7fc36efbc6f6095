/** What the load generator is asked, and what it answers. */

export interface LoadJob {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Name of a workload. */
  readonly workload: string;
  /** How long every answer is; undefined if that does not matter. */
  readonly answerBytes: number | undefined;
  readonly connections: number;
  /** Whose CPU time is read. */
  readonly pid: number;
  /** Load that is not measured, for this long, in ms; then load that is. */
  readonly warmUpMs: number;
  readonly ms: number;
  /** Requests per second, sent whatever comes back. Without it each connection sends as soon as it has its answer. */
  readonly rate?: number;
}

/** What one round of load showed. Latencies are in ms. */
export interface Round {
  readonly requests: number;
  readonly seconds: number;
  readonly cpuMicros: number;
  /** Ready to run without a core; null where the system does not say, as NaN becomes on its way. */
  readonly waitedMicros: number | null;
  readonly p50: number;
  readonly p99: number;
}

export type LoadResult = Round | { readonly failure: string };
