/** A timer due every 10 ms tells how long this process could not run: by so much it is late. */
const EVERY_MS = 10;
let last = performance.now();
let lateMs = 0;
setInterval(() => {
  const now = performance.now();
  lateMs += Math.max(0, now - last - EVERY_MS);
  last = now;
}, EVERY_MS).unref();

const lateUntilNow = () => lateMs + Math.max(0, performance.now() - last - EVERY_MS);

/**
 * Starts to measure; what it gives is called at the end, for the ms that went by. Left out is the time in which this
 * process could not run, because a busy machine let others run or because it did something else. Tests run both sides
 * in one process, so that time says nothing about how long either side waited for the other.
 */
export function startStopwatch(): () => number {
  const start = performance.now();
  const lateBefore = lateUntilNow();
  return () => performance.now() - start - (lateUntilNow() - lateBefore);
}
