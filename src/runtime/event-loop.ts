const TICK_MS = 20;

/** The shortest window in which delays are measured, in ms: a short turn between two long ones must not hide the second. */
const WINDOW_MS = 50;

/** How late the event loop may be, in ms: far more than a large request takes, and far less than routers and people wait. */
const MAX_DELAY_MS = 200;

export type EventLoopMonitor = ReturnType<typeof startEventLoopMonitor>;

/** Measures the lag of the event loop. Node's histogram misses each turn after a reset: under overload all. */
export function startEventLoopMonitor(maxDelayMs = MAX_DELAY_MS) {
  let totalMs = 0;
  let lastTick = performance.now();
  let windowStart = lastTick;
  let windowLagMs = 0;
  /** The delays of the last two windows. */
  let delayMs = 0;
  let delayBeforeMs = 0;

  const lagAt = (now: number) => Math.max(0, now - lastTick - TICK_MS);
  // The excess of the window over WINDOW_MS, at most the lag of its ticks: it ends with a tick, so it can be longer although
  // no tick is late.
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
    /** The total lag since the start, in ms: tells a slow upstream from a response that waits in our socket. */
    totalLagMs: (): number => totalMs + lagAt(performance.now()),
    /**
     * Was the event loop late by more than the limit twice in a row? Once may be a garbage collection. After one delay, a second
     * one counts before it has ended, so that requests which arrive during it are refused.
     */
    isOverloaded: (): boolean =>
      delayMs > maxDelayMs && (delayBeforeMs > maxDelayMs || delayAt(performance.now()) > maxDelayMs),
    stop: () => clearInterval(timer),
  };
}
