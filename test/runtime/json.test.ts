import { expect, test } from 'vitest';
import { countValues, sizeOf } from '../../src/runtime/json.ts';

/** How large JSON is, before and after it becomes values. */

test.each([
  ['1', 0],
  ['[]', 1],
  ['[1,2,3]', 3],
  ['{"a":1,"b":[{}]}', 6],
  ['"a text, with: [all] of {them}"', 4],
])('%s has at most %i values and keys beside the first, by the characters before them', (json, count) => {
  expect(countValues(Buffer.from(json))).toBe(count);
});

test('a value that is larger than the most is never said to be as large as that', () => {
  const weigh = (text: string) => text.length / 16;
  expect([sizeOf([1, 1], weigh), sizeOf([1, 1], weigh, 2) > 2, sizeOf('x'.repeat(32), weigh, 2) > 2]).toEqual([
    3,
    true,
    true,
  ]);
});
