/** Numbers from 0 to 1, without 1, that look like chance and are the same again for the same seed. */
export type Random = () => number;

/** The generator mulberry32: 32 bits of state are enough to shuffle rounds and to vary requests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same values in another order (Fisher-Yates). */
export function shuffled<Value>(values: readonly Value[], random: Random): Value[] {
  const left = [...values];
  const taken: Value[] = [];
  while (left.length > 0) taken.push(...left.splice(Math.floor(random() * left.length), 1));
  return taken;
}
