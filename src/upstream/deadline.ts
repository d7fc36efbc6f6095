import { DeviceTrustError } from '../errors.ts';
import type { EventLoopMonitor } from '../runtime/event-loop.ts';

/** Tells how late this process is. */
export type EventLoop = Pick<EventLoopMonitor, 'totalLagMs'>;

/** A lag up to this does not excuse that something is late, unless it is half of the deadline, in ms. */
const MIN_LAG_MS = 250;

/** The time that a call or a probe has. */
export class Deadline {
  readonly #ending = new AbortController();
  readonly #eventLoop: EventLoop;
  readonly #startedAt = performance.now();
  readonly #lagBeforeMs: number;
  readonly #minLagMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #cancellation: AbortSignal | undefined;

  /** @param isOurs did we use up the time? Then it ends with OVERLOADED; `cancellation` ends it with its own reason */
  constructor(ms: number, eventLoop: EventLoop, isOurs: () => boolean, cancellation?: AbortSignal) {
    this.#eventLoop = eventLoop;
    this.#lagBeforeMs = eventLoop.totalLagMs();
    this.#minLagMs = Math.min(ms / 2, MIN_LAG_MS);
    this.#cancellation = cancellation;
    cancellation?.addEventListener('abort', this.#cancel);
    const expire = () => {
      const code = isOurs() ? 'OVERLOADED' : 'UPSTREAM_TIMEOUT';
      this.#ending.abort(new DeviceTrustError(code, { internal: `no answer within ${ms} ms` }));
    };
    // After a lag, a response that has arrived meanwhile is read first.
    this.#timer = setTimeout(() => setImmediate(expire), ms);
  }

  /** Aborted with an error when the time is over, or when it is cancelled. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * Did we, not the upstream, cause the delay? Yes, if the event loop lagged for over a quarter of the time and for 250
   * ms or half of the deadline, or the look-up took over a quarter. Otherwise load could let a captcha proceed.
   */
  isOurDelay(lookupMs: number): boolean {
    const lagMs = this.#eventLoop.totalLagMs() - this.#lagBeforeMs;
    const elapsedMs = performance.now() - this.#startedAt;
    return lagMs > Math.max(elapsedMs / 4, this.#minLagMs) || lookupMs > elapsedMs / 4;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#cancellation?.removeEventListener('abort', this.#cancel);
  }

  readonly #cancel = () => this.#ending.abort(this.#cancellation?.reason);
}
