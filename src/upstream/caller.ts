/** The operation on whose behalf calls are made, and what they come to. */
export interface Caller {
  /** By which its lines are found in the log. */
  readonly requestId: string;
  readonly cancellation: Cancellation;
  /** Calls that have ended so far. */
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

/** What wants to know that nobody waits for it any more. */
export interface Listener {
  cancelled(reason: Error): void;
}

/**
 * Tells the calls of an operation that nobody waits for their answers any more. It is what an AbortSignal is, without the
 * events, which would cost each request as much as parsing its answer does.
 */
export class Cancellation {
  readonly #listeners = new Set<Listener>();
  #reason: Error | undefined;

  /** Why, once it has happened. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  cancel(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    for (const listener of this.#listeners) listener.cancelled(reason);
    this.#listeners.clear();
  }

  add(listener: Listener): void {
    this.#listeners.add(listener);
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
  }
}
