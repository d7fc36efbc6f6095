/** The arithmetic of the figures. */

/** The middle value, or the mean of the two in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

/** The smallest value that `percent` of all values do not exceed (nearest rank); NaN of none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** The median of some values, with the interval in which the true one lies with a probability of 95 %. */
export interface Estimate {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

const MOST_OUTSIDE = 0.05;

/**
 * The median and its interval. Its ends are two of the values, which the binomial distribution selects, so it assumes nothing about
 * how the values are distributed (H. A. David, Order Statistics, section 7.1). Of fewer than six values it is their range.
 */
export function estimate(values: readonly number[]): Estimate {
  const sorted = [...values].sort((a, b) => a - b);
  // The interval between the values number r and n+1-r misses the median if fewer than r values are on one side of it.
  let probability = 0.5 ** values.length;
  let outside = 2 * probability;
  let rank = 0;
  for (let next = 1; next < values.length / 2; next += 1) {
    probability *= (values.length - next + 1) / next;
    outside += 2 * probability;
    if (outside > MOST_OUTSIDE) break;
    rank = next;
  }
  return {
    median: median(values),
    low: sorted[rank] ?? Number.NaN,
    high: sorted[sorted.length - 1 - rank] ?? Number.NaN,
  };
}
