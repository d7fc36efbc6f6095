import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Tells when this process has more to do than it gets done. */
export interface Pressure {
  /** Should new work be turned away? Costs nothing to ask. */
  readonly isTooHigh: () => boolean;
  stop(): void;
}

/** How often the delay is looked at, in ms: short enough to turn work away before much of it has piled up. */
const LOOK_EVERY_MS = 50;
const RESOLUTION_MS = 5;

/**
 * Watches how late the event loop runs. Above `maxDelayMs` twice in a row it is behind with what it has; once may be a
 * collection of garbage, or a start.
 */
export function watchEventLoop(maxDelayMs: number): Pressure {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let wasHigh = false;
  let tooHigh = false;
  const timer = setInterval(() => {
    // Nanoseconds, and with the sampling interval itself in it. NaN where a moment had no sample.
    const delayMs = delays.mean / 1e6 - RESOLUTION_MS;
    const isHigh = delayMs > maxDelayMs;
    tooHigh = isHigh && wasHigh;
    wasHigh = isHigh;
    delays.reset();
  }, LOOK_EVERY_MS);
  timer.unref();
  return {
    isTooHigh: () => tooHigh,
    stop: () => {
      clearInterval(timer);
      delays.disable();
    },
  };
}
