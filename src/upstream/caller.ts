/** The operation on whose behalf calls are made, and what they come to. */
export interface Caller {
  /** By which its lines are found in the log. */
  readonly requestId: string;
  /** Aborted when nobody waits for the answers any more. */
  readonly signal: AbortSignal;
  /** Calls that were made so far. */
  calls: number;
  /** What they took together, in ms. */
  callMs: number;
  /** Starts a span for a call, if the operation is traced. */
  readonly startSpan?: ((service: string, region: string) => CallSpan) | undefined;
}

/** One call in a trace. */
export interface CallSpan {
  /** Headers that carry the trace on. */
  readonly headers: Readonly<Record<string, string>>;
  end(outcome: string): void;
}
