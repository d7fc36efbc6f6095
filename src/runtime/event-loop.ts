const TICK_MS = 20;

/** The shortest window of delays, in ms. In a shorter one, one short turn would separate two long turns for `isOverloaded`. */
const WINDOW_MS = 50;

/** How late the event loop may be, in ms: far more than a large request takes, and far less than routers and people wait. */
const MAX_DELAY_MS = 200;

/** How long delays count while nobody watches, in ms. */
const REMEMBERED_MS = 100;

export type EventLoopMonitor = ReturnType<typeof startEventLoopMonitor>;

/**
 * Measures the lag of the event loop by the ticks of a timer, which runs only while somebody watches, so that an idle process
 * sleeps. Node's histogram misses the turn after each reset, and so every turn under overload.
 */
export function startEventLoopMonitor(maxDelayMs = MAX_DELAY_MS) {
  let totalMs = 0;
  /** When the last watcher left. */
  let leftAt = 0;
  /** The last tick, or the start of the window since then. */
  let since = 0;
  let [windowStart, windowLagMs] = [0, 0];
  /** The delays of the last two windows. */
  let [delayMs, delayBeforeMs] = [0, 0];
  let watchers = 0;
  let timer: NodeJS.Timeout | undefined;

  const lagAt = (now: number) => (timer ? Math.max(0, now - since - TICK_MS) : 0);
  // A window ends at the first tick after WINDOW_MS. Its delay is the time beyond WINDOW_MS, but at most the lag of its ticks.
  const delayAt = (now: number) => Math.min(windowLagMs + lagAt(now), now - windowStart - WINDOW_MS);

  const tick = () => {
    const now = performance.now();
    const lagMs = lagAt(now);
    totalMs += lagMs;
    if (now - windowStart < WINDOW_MS) windowLagMs += lagMs;
    else {
      [delayBeforeMs, delayMs] = [delayMs, delayAt(now)];
      [windowStart, windowLagMs] = [now, 0];
      // Not earlier: requests that end within their turn would never be measured, and an overload never forgotten.
      if (watchers === 0) stop();
    }
    since = now;
  };

  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    /** Measures until the end of the window in which the returned function is called. Requests, calls and probes watch in flight. */
    watch: (): (() => void) => {
      const now = performance.now();
      const isForgotten = watchers === 0 && now - leftAt > REMEMBERED_MS;
      if (isForgotten) [delayMs, delayBeforeMs] = [0, 0];
      if (isForgotten || !timer) [since, windowStart, windowLagMs] = [now, now, 0];
      timer ??= setInterval(tick, TICK_MS).unref();
      watchers += 1;
      return () => {
        watchers -= 1;
        leftAt = performance.now();
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
    stop,
  };
}
