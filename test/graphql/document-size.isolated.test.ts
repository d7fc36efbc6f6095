import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { countSelectedFields, sizeOfDocument } from '../../src/graphql/document-size.ts';

describe('selected fields', () => {
  test.each([
    ['{ a }', 1],
    ['{ a { b c { d } } }', 4],
    ['{ a { ... on T { b c } } }', 3],
    ['{ x: a { ...F } y: a { ...F } } fragment F on T { b c }', 6],
    ['{ a { ...F } } fragment F on T { b ...G ...G } fragment G on T { c }', 4],
    ['query A { a } query B { a b }', 3],
  ])('%s selects %i', (source, fields) => {
    expect(countSelectedFields(parse(source))).toBe(fields);
  });
});

describe('the size of a document is at least what its syntax tree and its source take of the heap', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');

  /** Bytes of the heap for each of ten documents. Each has a source of its own, as each request does. */
  function measure(source: string): number {
    const parseOne = () => parse(JSON.parse(JSON.stringify(source)));
    const documents = [parseOne()];
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    while (documents.length < 11) documents.push(parseOne());
    collectGarbage();
    return (process.memoryUsage().heapUsed - before) / 10;
  }

  const withToken = (token: string) => `{ deviceFingerprint(token: ${token}) { __typename } }`;

  test.each([
    ['fields', `{ ${Array.from({ length: 5_000 }, (_, at) => `a${at}: __typename`).join(' ')} }`],
    ['a string', withToken(`"${'a'.repeat(16_000)}"`)],
    ['a string of escape sequences', withToken(`"${'\\n'.repeat(8_000)}"`)],
    ['a string of escape sequences between letters', withToken(`"${'a\\n'.repeat(5_000)}"`)],
    ['a string of escape sequences between letters of another alphabet', withToken(`"${'ጐ\\n'.repeat(5_000)}"`)],
    ['a block string', withToken(`"""${'\n a'.repeat(5_000)}"""`)],
    ['a block string in another alphabet', withToken(`"""${'\n ጐ'.repeat(5_000)}"""`)],
    ['a comment', `{ __typename } # ${'a'.repeat(16_000)}`],
    ['a comment in another alphabet', `{ __typename } # ${'ጐ'.repeat(16_000)}`],
  ])('with %s', (_what, source) => {
    expect(measure(source)).toBeLessThan(sizeOfDocument(parse(source)) * 1.1);
  });

  test('and for many fields not twice as much', () => {
    const fields = `{ ${Array.from({ length: 5_000 }, (_, at) => `a${at}: __typename`).join(' ')} }`;
    expect(measure(fields)).toBeGreaterThan(sizeOfDocument(parse(fields)) / 2);
  });
});
