/** What a device may report about itself, in values; a text counts as one more for each 16 characters. Pages report some 20. */
const MAX_SIZE = 1_000;
const CHARACTERS_PER_UNIT = 16;
/** As deep as the scalar JSONObject is. */
const MAX_LEVELS = 32;

/**
 * What a device reports about itself, as a bounded copy. Who controls a page writes it, and must not decide whether its judgement is
 * read: what is beyond the limits is left out, and a long text is cut.
 */
export class Report {
  #left = MAX_SIZE;
  /** How many values were left out, or cut. */
  leftOut = 0;

  /** A copy of a JSON value, with whatever still fits; undefined if nothing does. */
  copy(value: unknown, levelsLeft = MAX_LEVELS): unknown {
    if (typeof value === 'string') return this.text(value);
    const isNested = typeof value === 'object' && value !== null;
    if (!this.#takes(1) || (isNested && levelsLeft === 0)) return this.#leaveOut();
    if (!isNested) return value;
    if (Array.isArray(value)) return this.#items(value, levelsLeft);
    const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
      const fits = this.#takes(key.length / CHARACTERS_PER_UNIT);
      const copied = fits ? this.copy(inner, levelsLeft - 1) : this.#leaveOut();
      return copied === undefined ? [] : [[key, copied]];
    });
    return Object.fromEntries(entries);
  }

  /** A text, or as much of its begin as still fits. */
  text(value: string): string {
    const kept = value.slice(0, Math.max(0, Math.floor(this.#left * CHARACTERS_PER_UNIT)));
    if (kept.length < value.length) this.leftOut += 1;
    this.#left -= 1 + kept.length / CHARACTERS_PER_UNIT;
    return kept;
  }

  #items(list: readonly unknown[], levelsLeft: number): unknown[] {
    return list.flatMap((item) => {
      const copied = this.copy(item, levelsLeft - 1);
      return copied === undefined ? [] : [copied];
    });
  }

  #takes(size: number): boolean {
    if (size > this.#left) return false;
    this.#left -= size;
    return true;
  }

  #leaveOut(): undefined {
    this.leftOut += 1;
  }
}
