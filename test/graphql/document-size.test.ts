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

test('the size of a syntax tree is what it takes of the heap, or a little more', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  const source = `{ ${Array.from({ length: 5_000 }, (_, at) => `a${at}: __typename`).join(' ')} }`;
  const trees = [parse(source)];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  while (trees.length < 11) trees.push(parse(source));
  collectGarbage();
  const measured = (process.memoryUsage().heapUsed - before) / 10;
  const [first] = trees;
  const size = first ? sizeOfDocument(first) : 0;
  expect(measured).toBeLessThan(size * 1.1);
  expect(measured).toBeGreaterThan(size / 2);
});
