/** Begins every text that is sent as a value: none may come back, or be logged. */
export const CANARY = '§cnry';

/**
 * Choices that follow from a list of numbers. Each takes the next number; without one it is the first choice. So fast-check
 * makes the result smaller by making the list smaller.
 */
export function createChoices(numbers: readonly number[]) {
  let at = 0;
  /** A whole number from 0. */
  const upTo = (most: number) => (numbers[at++] ?? 0) % (most + 1);
  /** True in so many cases of a hundred. */
  const chance = (percent: number) => upTo(99) >= 100 - percent;
  // Sound: nobody chooses from an empty list, so the number is one of its indexes.
  const oneOf = <T>(list: readonly T[]): T => list[upTo(list.length - 1)] as T;
  const several = (most: number, make: (index: number) => string, separator = ' ') =>
    Array.from({ length: upTo(most) }, (_, index) => make(index)).join(separator);
  return { upTo, chance, oneOf, several };
}
