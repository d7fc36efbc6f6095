/** Later than this, in ms, a service of a test's own process no longer answers within the margins of these tests. */
const LATE_MS = 200;
/** The longest of these tests, in ms. */
const TEST_MS = 40_000;
const TICK_MS = 20;

let lateAt = Number.NEGATIVE_INFINITY;
let tickedAt = performance.now();
setInterval(() => {
  const now = performance.now();
  if (now - tickedAt > TICK_MS + LATE_MS) lateAt = now;
  tickedAt = now;
}, TICK_MS).unref();

/**
 * For tests whose upstreams run in this process: a lag of the machine delays these as well, which no upstream of ours would be. A failure
 * after such a lag is inconclusive, so the test is repeated; on a steady machine it is a failure at once.
 */
export const UNLESS_LATE = { retry: { count: 3, condition: () => performance.now() - lateAt < TEST_MS } };
