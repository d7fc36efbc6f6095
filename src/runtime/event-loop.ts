/** Measures the lag of the event loop: for how long the process handled no socket and no timer. */
export interface EventLoopMonitor {
  /** The total lag since the start, in ms: tells a slow upstream from a response that waits in our socket. */
  totalLagMs(): number;
  /** Was the event loop late by more than the limit twice in a row? Once may be a garbage collection. */
  isOverloaded(): boolean;
  stop(): void;
}

/** A lag up to this does not excuse that something is late, unless it is half of the deadline, in ms. */
const MIN_LAG_MS = 250;

const TICK_MS = 20;

/** The shortest window in which delays are measured, in ms: a short turn between two long ones does not hide that these are two. */
const WINDOW_MS = 50;

/** How late the event loop may be, in ms: far more than a large request takes, and far less than routers and people wait. */
const MAX_DELAY_MS = 200;

/** Measures how late a timer is. Node's histogram misses the turn after each reset: under overload every turn. */
export function startEventLoopMonitor(maxDelayMs = MAX_DELAY_MS): EventLoopMonitor {
  let totalMs = 0;
  let lastTick = performance.now();
  let windowStart = lastTick;
  let windowLagMs = 0;
  /** The delays of the last two windows. */
  let delayMs = 0;
  let delayBeforeMs = 0;

  const lagAt = (now: number) => Math.max(0, now - lastTick - TICK_MS);
  // By how much the window is longer than WINDOW_MS. It ends with a tick, so it can be longer although no tick is late: therefore
  // no more than the lag of its ticks counts.
  const delayAt = (now: number) => Math.min(windowLagMs + lagAt(now), now - windowStart - WINDOW_MS);

  const timer = setInterval(() => {
    const now = performance.now();
    if (now - windowStart >= WINDOW_MS) {
      delayBeforeMs = delayMs;
      delayMs = delayAt(now);
      windowStart = now;
      windowLagMs = 0;
    } else windowLagMs += lagAt(now);
    totalMs += lagAt(now);
    lastTick = now;
  }, TICK_MS);
  timer.unref();

  return {
    totalLagMs: () => totalMs + lagAt(performance.now()),
    // After one delay, a second one counts before it has ended, so that requests which arrive during it are refused.
    isOverloaded: () => delayMs > maxDelayMs && (delayBeforeMs > maxDelayMs || delayAt(performance.now()) > maxDelayMs),
    stop: () => clearInterval(timer),
  };
}

/** The time that a call or a probe has. */
export class Deadline {
  readonly #ending = new AbortController();
  readonly #eventLoop: Pick<EventLoopMonitor, 'totalLagMs'>;
  readonly #startedAt = performance.now();
  readonly #lagBeforeMs: number;
  readonly #minLagMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #cancellation: AbortSignal | undefined;

  /** @param expired makes the error after `ms`; `cancellation` ends it earlier, with its own reason */
  constructor(
    ms: number,
    eventLoop: Pick<EventLoopMonitor, 'totalLagMs'>,
    expired: () => Error,
    cancellation?: AbortSignal,
  ) {
    this.#eventLoop = eventLoop;
    this.#lagBeforeMs = eventLoop.totalLagMs();
    this.#minLagMs = Math.min(ms / 2, MIN_LAG_MS);
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
   * Was the time lost by us? True if the event loop lagged for more than a quarter of it, and for more than 250 ms or half of the
   * deadline, or if the look-up took more than a quarter. If that counted as a fault of the service, a bot could turn load into a captcha that proceeds.
   *
   * @param lookupMs for how long a look-up was waited for
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
