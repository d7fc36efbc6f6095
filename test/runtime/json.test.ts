import { expect, test } from 'vitest';
import { countValues, parseAnswer, parseJson, sizeOf } from '../../src/runtime/json.ts';

/** How large JSON is, before and after it becomes values, and what becomes of half a character in it. */

test.each([
  [String.raw`{"\ud83d":["\uDe00\ud83D","\\\udfff"]}`, { '\ufffd': ['\ufffd\ufffd', '\\\ufffd'] }],
  [String.raw`["\ud83d\ude00","\\ud83d","\ud83\ude00"]`, undefined],
  [String.raw`["\ud83d\ude00","\\ud83d\ude00","\u0041"]`, ['\u{1f600}', '\\ud83d\ufffd', 'A']],
])('%s of a service has no lone surrogate', (json, value) => {
  expect(parseAnswer(Buffer.from(json))).toEqual(value);
});

test('half a character of a caller stays, so that it can be refused by the name of its argument', () => {
  expect(parseJson(String.raw`{"a":"\ud83d"}`)).toEqual({ a: '\ud83d' });
});

test('an answer of a service has 64 levels at most', () => {
  const nested = (levels: number) => Buffer.from(`${'{"a":['.repeat(levels / 2)}1${']}'.repeat(levels / 2)}`);
  expect(parseAnswer(nested(64))).toEqual(JSON.parse(nested(64).toString()));
  for (const levels of [66, 120_000]) expect(parseAnswer(nested(levels))).toBeUndefined();
});

test.each([
  ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":"a"}]}', true],
  ['{"\\"":1,"a" :{"b":"\\\\"},"b":2}', true],
  ['{"a":": :","b":[":"]}', true],
  [String.raw`{"a":1,"\\":2,"a\\b":{"\u0062":1},"\n":3}`, true],
  ['{"a":":","b":{"c":1,"c" : 2}}', false],
  ['{"a":1,"b":2,"a":1}', false],
  [String.raw`{"a":1,"\u0061":2}`, false],
  [`{${Array.from({ length: 40 }, (_, at) => `"k${at}":[]`).join()},"k20" : 1}`, false],
])('%s says one thing: %s', (json, isRead) => {
  expect(parseJson(json) !== undefined).toBe(isRead);
});

test.each([
  ['{"a":1,"\\\\":2}', String.raw`{"a":1,"\u0061":2}`, undefined],
  ['{"a":1,"cod\\\\":2}', String.raw`{"a":1,"cod\u0065":2}`, { a: 1, code: 2 }],
])('a text is read after %s as if it were alone, or not at all: %s', (earlier, json, value) => {
  parseJson(earlier);
  expect([undefined, value]).toContainEqual(parseJson(json));
});

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
  expect([sizeOf([1, 1], 16), sizeOf([1, 1], 16, 1, 2) > 2, sizeOf('x'.repeat(32), 16, 1, 2) > 2]).toEqual([
    3,
    true,
    true,
  ]);
});
