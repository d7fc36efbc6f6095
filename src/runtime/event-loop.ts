/** How long this process could not attend to its sockets. */
export interface Stalls {
  /** All of it so far, in ms. */
  totalMs(): number;
  stop(): void;
}

/** How often the event loop is expected to come round, in ms. */
const EVERY_MS = 20;

/**
 * Adds up by how much a timer of its own is late. A call's deadline passes while the process is busy as well, with the
 * answer already waiting in the socket: that must not be told as the service's fault.
 */
export function watchStalls(): Stalls {
  let total = 0;
  let last = performance.now();
  const lateness = (now: number) => Math.max(0, now - last - EVERY_MS);
  const timer = setInterval(() => {
    const now = performance.now();
    total += lateness(now);
    last = now;
  }, EVERY_MS);
  timer.unref();
  return { totalMs: () => total + lateness(performance.now()), stop: () => clearInterval(timer) };
}
