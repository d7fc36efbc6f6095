import { expect, test } from 'vitest';
import { countValues } from '../../src/runtime/json.ts';

/** Bytes of JSON, before they become values. */

test.each([
  ['1', 0],
  ['[]', 1],
  ['[1,2,3]', 3],
  ['{"a":1,"b":[{}]}', 6],
  ['"a text, with: [all] of {them}"', 4],
])('%s has at most %i values and keys beside the first, by the characters before them', (json, count) => {
  expect(countValues(Buffer.from(json))).toBe(count);
});
