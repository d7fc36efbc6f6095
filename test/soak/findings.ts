import type { Sizes } from './sizes.ts';
import type { SoakTestbed } from './testbed.ts';

/** A promise beside what was seen of it. */
export interface Finding {
  readonly promise: string;
  readonly promised: string;
  readonly measured: string;
  readonly kept: boolean;
}

/** Brings one situation about, in processes of its own, and says which promises were kept in it. */
export type Scenario = (testbed: SoakTestbed, size: Sizes) => Promise<readonly Finding[]>;

/** A figure may be no more than this. NaN is no figure, and keeps no promise. */
export function atMost(promise: string, limit: number, value: number, unit = '', more = ''): Finding {
  return finding(promise, `≤ ${shown(limit)}${unit}`, value, unit, more, value <= limit);
}

/** A figure may be no less than this. */
export function atLeast(promise: string, limit: number, value: number, unit = '', more = ''): Finding {
  return finding(promise, `≥ ${shown(limit)}${unit}`, value, unit, more, value >= limit);
}

/**
 * As a latency the figure may be no more than this beyond that of a bare server at the same time: the difference is ours, the
 * rest is this machine's.
 */
export function adds(promise: string, limit: number, value: number, bare: number, more: string): Finding {
  return atMost(promise, limit, value - bare, ' ms', `${shown(value)} ms, a bare server ${shown(bare)} ms; ${more}`);
}

function finding(promise: string, promised: string, value: number, unit: string, more: string, kept: boolean): Finding {
  return { promise, promised, measured: `${shown(value)}${unit}${more && ` (${more})`}`, kept };
}

/** With two decimals, if there are any. */
export function shown(value: number): string {
  return String(Math.round(value * 100) / 100);
}
