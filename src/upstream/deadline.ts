import { type EventLoopMonitor, isOurDelay } from '../runtime/event-loop.ts';

/** The time that a call or a probe has. */
export class Deadline {
  readonly #ending = new AbortController();
  readonly #eventLoop: Pick<EventLoopMonitor, 'totalLagMs'>;
  readonly #startedAt = performance.now();
  readonly #lagBeforeMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #cancellation: AbortSignal | undefined;

  /**
   * @param expired makes the error with which it ends after `ms`
   * @param cancellation ends it earlier, with its reason
   */
  constructor(
    ms: number,
    eventLoop: Pick<EventLoopMonitor, 'totalLagMs'>,
    expired: () => Error,
    cancellation?: AbortSignal,
  ) {
    this.#eventLoop = eventLoop;
    this.#lagBeforeMs = eventLoop.totalLagMs();
    this.#cancellation = cancellation;
    cancellation?.addEventListener('abort', this.#cancel);
    // After a lag, a response that has arrived meanwhile is read first.
    this.#timer = setTimeout(() => setImmediate(() => this.#ending.abort(expired())), ms);
  }

  /** Aborted with an error when the time is over, or when it is cancelled. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * Was the time lost by us? If that counted as a fault of the service, a bot could turn load into a captcha that proceeds.
   *
   * @param lookupMs for how long a look-up was waited for
   */
  isOurDelay(lookupMs: number): boolean {
    const lagMs = this.#eventLoop.totalLagMs() - this.#lagBeforeMs;
    return isOurDelay({ lagMs, lookupMs }, performance.now() - this.#startedAt);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#cancellation?.removeEventListener('abort', this.#cancel);
  }

  readonly #cancel = () => this.#ending.abort(this.#cancellation?.reason);
}
