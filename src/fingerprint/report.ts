import { nestsTooDeep, sizeOf } from '../runtime/json.ts';

/** What a device may report about itself, in values; a text counts as one more for each 16 characters. Pages report some 20. */
const MAX_SIZE = 1_000;
const CHARACTERS_PER_UNIT = 16;
const weightOf = (text: string) => text.length / CHARACTERS_PER_UNIT;

/**
 * Bounds what a device reports about itself. Who controls a page writes it, and must not decide whether its judgement is read: what is
 * beyond the limit, or too deep, is left out, and a long text is cut.
 */
export class Report {
  #left = MAX_SIZE;
  /** How many values were left out, or cut. */
  leftOut = 0;

  /** As much of the begin of a text as still fits. */
  text(value: string): string {
    const kept = value.slice(0, Math.max(0, this.#left * CHARACTERS_PER_UNIT));
    this.#left -= 1 + kept.length / CHARACTERS_PER_UNIT;
    if (kept.length < value.length) this.leftOut += 1;
    return kept;
  }

  /** The entries of a free-form object that still fit, but for some. */
  entriesBut(some: readonly string[], object: Record<string, unknown>): Record<string, unknown> {
    const kept: [string, unknown][] = [];
    for (const key in object) {
      if (some.includes(key)) continue;
      const value = object[key];
      const isText = typeof value === 'string';
      const size = weightOf(key) + (isText ? 0 : sizeOf(value, weightOf, this.#left));
      if (size > this.#left || nestsTooDeep([value])) this.leftOut += 1;
      else {
        this.#left -= size;
        kept.push([key, isText ? this.text(value) : value]);
      }
    }
    return Object.fromEntries(kept);
  }
}
