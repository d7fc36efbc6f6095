const TICK_MS = 20;

/** The shortest window of delays, in ms. In a shorter one, one short turn would separate two long turns for `isOverloaded`. */
const WINDOW_MS = 50;

/** How late the event loop may be, in ms: far more than a large request takes, and far less than routers and people wait. */
const MAX_DELAY_MS = 200;

/** How long delays count after the last tick, in ms. Refusals, which end before a tick, do not prolong it. */
const REMEMBERED_MS = 100;

export type EventLoopMonitor = ReturnType<typeof startEventLoopMonitor>;

/**
 * Measures the lag of the event loop by the ticks of a timer, which runs only while somebody watches, so that an idle process
 * sleeps. Node's histogram misses the turn after each reset, and so every turn under overload.
 */
export function startEventLoopMonitor(maxDelayMs = MAX_DELAY_MS) {
  let totalMs = 0;
  let lastTick = 0;
  /** The last tick, or the start of the timer since then. */
  let since = 0;
  let windowStart = 0;
  let windowLagMs = 0;
  /** The delays of the last two windows. */
  let [delayMs, delayBeforeMs] = [0, 0];
  let watchers = 0;
  let timer: NodeJS.Timeout | undefined;

  const lagAt = (now: number) => (timer ? Math.max(0, now - since - TICK_MS) : 0);
  // A window ends at the first tick after WINDOW_MS. Its delay is the time beyond WINDOW_MS, but at most the lag of its ticks.
  const delayAt = (now: number) => Math.min(windowLagMs + lagAt(now), now - windowStart - WINDOW_MS);

  const tick = () => {
    const now = performance.now();
    if (now - windowStart >= WINDOW_MS) {
      delayBeforeMs = delayMs;
      delayMs = delayAt(now);
      windowStart = now;
      windowLagMs = 0;
    } else windowLagMs += lagAt(now);
    totalMs += lagAt(now);
    [lastTick, since] = [now, now];
  };

  const rest = () => {
    totalMs += lagAt(performance.now());
    clearInterval(timer);
    timer = undefined;
  };

  return {
    /** Measures until the returned function is called. Requests, calls and probes watch as long as they are in flight. */
    watch: (): (() => void) => {
      if (watchers === 0) {
        const now = performance.now();
        if (now - lastTick > REMEMBERED_MS) [delayMs, delayBeforeMs] = [0, 0];
        [since, windowStart, windowLagMs] = [now, now, 0];
        timer = setInterval(tick, TICK_MS).unref();
      }
      watchers += 1;
      return () => {
        watchers -= 1;
        if (watchers === 0) rest();
      };
    },
    /** The total lag since the start, in ms: tells a slow upstream from a response that waits in our socket. */
    totalLagMs: (): number => totalMs + lagAt(performance.now()),
    /**
     * Was the event loop late by more than the limit twice in a row? A single delay may be a garbage collection. The second delay
     * counts while it lasts, so that requests which arrive meanwhile are refused.
     */
    isOverloaded: (): boolean =>
      delayMs > maxDelayMs && (delayBeforeMs > maxDelayMs || delayAt(performance.now()) > maxDelayMs),
    /** The total lag that ticks have measured, in ms. */
    measuredLagMs: (): number => totalMs,
    stop: rest,
  };
}
