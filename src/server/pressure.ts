/** Tells when this process has more to do than it gets done. */
export interface Pressure {
  /** Should new work be turned away? Costs nothing to ask. */
  readonly isTooHigh: () => boolean;
  stop(): void;
}

/** How often the delay is looked at, in ms: short enough to turn work away before much of it has piled up. */
const LOOK_EVERY_MS = 20;

/**
 * Watches how late the event loop runs. Above `maxDelayMs` twice in a row it is behind with what it has; once may be a
 * collection of garbage, or a start.
 */
export function watchEventLoop(maxDelayMs: number): Pressure {
  let due = performance.now() + LOOK_EVERY_MS;
  let wasLate = false;
  let tooHigh = false;
  // A timer of its own: a histogram of delays leaves out the first one after each reset, which under load is the only one.
  const timer = setInterval(() => {
    const now = performance.now();
    const isLate = now - due > maxDelayMs;
    tooHigh = isLate && wasLate;
    wasLate = isLate;
    due = now + LOOK_EVERY_MS;
  }, LOOK_EVERY_MS);
  timer.unref();
  return { isTooHigh: () => tooHigh, stop: () => clearInterval(timer) };
}
