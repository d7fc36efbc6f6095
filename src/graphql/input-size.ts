/** So many characters of a text cost as much as one more value. */
const CHARACTERS_PER_UNIT = 16;

/**
 * The size of a JSON value that a caller sent: one for each value in it, and one more for every 16 characters of texts and
 * keys. It takes any depth, because it is asked before the depth is checked.
 */
export function sizeOfInput(value: unknown): number {
  if (typeof value !== 'object' || value === null) return sizeOfLeaf(value);
  let size = 0;
  const open: object[] = [value];
  for (let next = open.pop(); next; next = open.pop()) {
    size += 1;
    const isList = Array.isArray(next);
    for (const [key, inner] of Object.entries(next)) {
      if (!isList) size += key.length / CHARACTERS_PER_UNIT;
      if (typeof inner === 'object' && inner !== null) open.push(inner);
      else size += sizeOfLeaf(inner);
    }
  }
  return size;
}

function sizeOfLeaf(value: unknown): number {
  return 1 + (typeof value === 'string' ? value.length / CHARACTERS_PER_UNIT : 0);
}
