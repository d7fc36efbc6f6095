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

/** What can be told that nobody waits for it any more. */
export interface Cancellable {
  cancelled(reason: Error): void;
}

/**
 * Tells the calls of an operation that nobody waits for their answers any more. It is what an AbortSignal is, without the
 * events, which would cost each request as much as parsing its answer does.
 */
export class Cancellation {
  readonly #calls = new Set<Cancellable>();
  #reason: Error | undefined;

  /** Why, once it has happened. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  cancel(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    for (const call of this.#calls) call.cancelled(reason);
    this.#calls.clear();
  }

  add(call: Cancellable): void {
    this.#calls.add(call);
  }

  remove(call: Cancellable): void {
    this.#calls.delete(call);
  }
}
