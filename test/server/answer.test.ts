import { afterAll, describe, expect, test } from 'vitest';
import { createAnswerWriter, serialize } from '../../src/server/answer.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ask } from '../support/requests.ts';

/** An answer has at most MAX_ANSWER_BYTES. */

const LIMIT = 4_000;
const app = await startInSandboxMode({ maxAnswerBytes: LIMIT });
afterAll(() => app.stop());

/** Enough items to be written one by one. */
const MANY = Array.from({ length: 30 }, (_, at) => ({ at, text: '"\n' }));

const TOO_LARGE = [
  {
    message: 'The answer is larger than 4000 bytes. Ask for fewer fields or references in one request.',
    extensions: { code: 'OVERLOADED', retryable: false },
  },
];

test('a larger one is replaced by an error, whether the document is new or compiled, and the log has the error', async () => {
  for (let time = 0; time < 5; time += 1) {
    const { status, data, errors } = await ask(app.graphqlUrl, '{ signalCatalogue { code meaning } }');
    expect([status, data]).toEqual([200, null]);
    expect(errors).toEqual(TOO_LARGE);
    const line = JSON.parse(app.logged().trimEnd().split('\n').at(-1) ?? '');
    expect(line.errors).toEqual(['OVERLOADED']);
  }
});

test('a smaller one is answered', async () => {
  const { errors, text } = await ask(app.graphqlUrl, '{ signalCatalogue { code level } }');
  expect(errors).toBeUndefined();
  expect(text.length).toBeGreaterThan(0.5 * LIMIT);
});

describe('the writer', () => {
  const error = { message: 'no "data"', path: ['b', 1] };
  test.each([
    [{ data: { a: 1 } }],
    [{ data: null, errors: [error] }],
    [{ errors: [error] }],
    [{ data: {} }],
    [{ data: { a: [], b: [1, null, 'x\n"'], ç: { d: [[]] } }, errors: [error] }],
    [{ data: { a: [{ b: 1 }], c: null }, extensions: { ftv1: 'trace' } }],
    [{ data: { a: MANY, b: [], c: null, ç: { d: [[]] } }, errors: [error] }],
    [{ data: { a: MANY }, extensions: { ftv1: 'trace' } }],
    [{ data: { a: [...MANY, ...MANY, null, null, 1, '1', 1] } }],
    [{ data: Object.fromEntries(MANY.map((value, at) => [`a${at}`, value])) }],
  ])('writes %j as JSON.stringify does', (result) => {
    expect(createAnswerWriter(LIMIT).write(result)).toBe(serialize(result));
    expect(JSON.parse(serialize(result))).toEqual(result);
  });

  test.each([
    ['one object', (text: string) => ({ a: text })],
    ['a long list', (text: string) => ({ a: [...MANY, text] })],
  ])('counts the bytes of %s, and not the characters', (_what, dataOf) => {
    const size = Buffer.byteLength(serialize({ data: dataOf('ä'.repeat(50)) }));
    const result = { data: dataOf('ä'.repeat(50)) };
    expect(createAnswerWriter(size).write(result)).toBe(serialize(result));
    const { write, tooLarge } = createAnswerWriter(size - 1);
    expect(write(result)).toBe(tooLarge.text);
    expect(write({ data: dataOf('a'.repeat(50)) })).not.toBe(tooLarge.text);
  });

  test('stops as soon as the answer is too large', () => {
    let written = 0;
    const item = {
      toJSON: () => {
        written += 1;
        return 'x'.repeat(100);
      },
    };
    const { write, tooLarge } = createAnswerWriter(1_000);
    expect(write({ data: { list: Array(10_000).fill(item) } })).toBe(tooLarge.text);
    expect(written).toBeLessThan(20);
  });
});
