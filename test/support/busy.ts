/**
 * Loaded into a process before its own code: SIGUSR2 gives it more to do than it gets done. It works for 300 ms at a time,
 * with nothing but a moment for everything else in between, and for 4 s in all.
 */

const BUSY_MS = 300;
const ALL_MS = 4_000;

process.on('SIGUSR2', () => {
  const end = performance.now() + ALL_MS;
  const work = () => {
    for (const until = performance.now() + BUSY_MS; performance.now() < until; );
    if (performance.now() < end) setImmediate(work);
  };
  work();
});
