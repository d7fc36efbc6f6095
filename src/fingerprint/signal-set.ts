import type { Signal, SignalDefinition } from '../schema.generated.ts';
import { SIGNAL_CATALOGUE } from './signals.ts';

/** Sets of documented signals, one bit for each. With them a rule looks at all signals of a device in two operations. */

/** A set of rows of the catalogue: the first 32 are the bits of `low`, and the others those of `high`. */
export interface SignalSet {
  readonly low: number;
  readonly high: number;
}

/** What a rule reads of a signal. */
export type PolicySignal = Pick<Signal, 'name' | 'code' | 'level' | 'confidence' | 'effect'>;

/** The signals of a device: those that are as the catalogue has them, and all others. */
export interface SortedSignals extends SignalSet {
  readonly odd: readonly PolicySignal[];
}

const WORD_BITS = 32;
if (SIGNAL_CATALOGUE.length > 2 * WORD_BITS)
  throw new Error('expected at most 64 signals in the catalogue, but got more');

const ROWS: ReadonlyMap<string, { readonly row: SignalDefinition; readonly low: number; readonly high: number }> =
  new Map(
    SIGNAL_CATALOGUE.map((row, at) => {
      const bit = 1 << (at % WORD_BITS);
      return [row.code, at < WORD_BITS ? { row, low: bit, high: 0 } : { row, low: 0, high: bit }];
    }),
  );

const NO_SIGNALS: readonly PolicySignal[] = [];

/** The set of the documented signals for which the predicate holds. */
export function signalSet(has: (row: SignalDefinition) => boolean): SignalSet {
  let [low, high] = [0, 0];
  for (const entry of ROWS.values()) {
    if (!has(entry.row)) continue;
    low |= entry.low;
    high |= entry.high;
  }
  return { low, high };
}

/** Sorts the signals of a device. A signal that comes twice is in the set once. */
export function sortSignals(signals: readonly PolicySignal[]): SortedSignals {
  let [low, high] = [0, 0];
  let odd: PolicySignal[] | undefined;
  for (const signal of signals) {
    const entry = signal.code == null ? undefined : ROWS.get(signal.code);
    if (entry && entry.row.level === signal.level && entry.row.confidence === signal.confidence) {
      low |= entry.low;
      high |= entry.high;
    } else {
      odd ??= [];
      odd.push(signal);
    }
  }
  return { low, high, odd: odd ?? NO_SIGNALS };
}

/** Is the signal with this code in a set? One without a code never is. */
export function isIn(set: SignalSet, code: string | null | undefined): boolean {
  const entry = code == null ? undefined : ROWS.get(code);
  return entry !== undefined && sizeOfBoth(set, entry) > 0;
}

/** How many signals two sets have in common. */
export function sizeOfBoth(one: SignalSet, other: SignalSet): number {
  return bitsOf(one.low & other.low) + bitsOf(one.high & other.high);
}

/** The number of bits in a word that are 1. Adds them up in parallel: first pairs, then groups of 4, then bytes. */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
