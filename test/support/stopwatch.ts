/** A timer due every 10 ms is late by as long as this process could not run. What it used of the CPU meanwhile was its own doing. */
const EVERY_MS = 10;
let last = performance.now();
let lastCpu = process.cpuUsage();
let stalledMs = 0;

function stalledSinceLast(): number {
  const { user, system } = process.cpuUsage(lastCpu);
  return Math.max(0, performance.now() - last - EVERY_MS - (user + system) / 1_000);
}

setInterval(() => {
  stalledMs += stalledSinceLast();
  last = performance.now();
  lastCpu = process.cpuUsage();
}, EVERY_MS).unref();

const stalledUntilNow = () => stalledMs + stalledSinceLast();

/**
 * Starts to measure; what it returns is called at the end, and gives the ms that went by. Left out is the time in which
 * a busy machine let other processes run instead of this one: it says nothing about how long anything takes.
 */
export function startStopwatch(): () => number {
  const start = performance.now();
  const stalledBefore = stalledUntilNow();
  return () => performance.now() - start - (stalledUntilNow() - stalledBefore);
}

/** The same for the CPU time of this process, which is alike on a busy machine. */
export function startCpuStopwatch(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
