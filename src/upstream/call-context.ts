import type { CallSpan, CallTarget } from '../observability/tracing.ts';

/** The operation for which calls are made. */
export interface CallContext {
  /** All log lines about the operation have this id. */
  readonly requestId: string;
  readonly cancellation: Cancellation;
  /** Counts a call that was sent and has ended, with its duration in ms. */
  recordCall(ms: number): void;
  /** Starts the span of a call; absent unless the operation is traced. */
  readonly startSpan?: ((target: CallTarget) => CallSpan) | undefined;
}

/** Work that can be aborted. */
export interface Cancellable {
  abort(reason: Error): void;
}

/**
 * Aborts the calls of an operation whose client has disconnected. It does what an AbortSignal does, without the events:
 * for each request they would cost as much as parsing its response.
 */
export class Cancellation {
  readonly #calls = new Set<Cancellable>();
  #reason: Error | undefined;

  /** Why the operation was cancelled; undefined until it is. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** Aborts every call of the operation. Only the first reason counts. */
  cancel(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    for (const call of this.#calls) call.abort(reason);
    this.#calls.clear();
  }

  /** Adds a call that a cancellation aborts. */
  add(call: Cancellable): void {
    this.#calls.add(call);
  }

  /** Removes a call that has ended. */
  remove(call: Cancellable): void {
    this.#calls.delete(call);
  }
}
