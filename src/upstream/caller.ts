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
interface CallSpan {
  /** Headers that carry the trace on. */
  readonly headers: Readonly<Record<string, string>>;
  end(outcome: string): void;
}

/**
 * Tells the calls of an operation that nobody waits for their answers any more. It is what an AbortSignal is, without the
 * events, which would cost each request as much as parsing its answer does.
 */
export class Cancellation {
  readonly #listeners = new Set<(reason: Error) => void>();
  #reason: Error | undefined;

  /** Why, once it has happened. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  cancel(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    for (const listener of this.#listeners) listener(reason);
    this.#listeners.clear();
  }

  add(listener: (reason: Error) => void): void {
    this.#listeners.add(listener);
  }

  remove(listener: (reason: Error) => void): void {
    this.#listeners.delete(listener);
  }
}

/** A call that is being made. */
export interface StartedCall {
  /** Headers that carry its trace on, if it has one. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Notes it on the operation and in its trace, and gives how long it took, in ms. */
  end(outcome: string): number;
}

/** Begins to measure a call. */
export function startCall(caller: Caller, service: string, region: string): StartedCall {
  const start = performance.now();
  const span = caller.startSpan?.(service, region);
  return {
    headers: span?.headers,
    end: (outcome) => {
      const ms = performance.now() - start;
      caller.calls += 1;
      caller.callMs += ms;
      span?.end(outcome);
      return ms;
    },
  };
}
