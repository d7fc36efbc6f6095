import { parse } from 'graphql';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { createCompiledOperations, loadCompiler } from '../../src/graphql/document-cache.ts';
import { buildSchema } from '../../src/graphql/schema.ts';

/** Which operations are compiled, from when on, and how many of them are kept. */

const schema = buildSchema(1_000);
const neverFails = () => expect.unreachable();
beforeAll(loadCompiler);

describe('what is not compiled', () => {
  const learned = (document: string, times: number) => {
    const operations = createCompiledOperations(schema, neverFails);
    for (let time = 0; time < times; time += 1) operations.learn(document, parse(document));
    return operations.find(document, undefined);
  };

  test('a document that comes before the compiler is there, until it comes again', async () => {
    vi.resetModules();
    const fresh = await import('../../src/graphql/document-cache.ts');
    const operations = fresh.createCompiledOperations(schema, neverFails);
    const learn = () => operations.learn('{ __typename }', parse('{ __typename }'));
    for (let time = 0; time < 5; time += 1) learn();
    expect(operations.find('{ __typename }', undefined)).toBeUndefined();
    await fresh.loadCompiler();
    expect(operations.find('{ __typename }', undefined)).toBeUndefined();
    learn();
    expect(operations.find('{ __typename }', undefined)).toBeDefined();
  });

  test('a document that came twice', () => {
    expect(learned('{ __typename }', 2)).toBeUndefined();
    expect(learned('{ __typename }', 3)).toBeDefined();
  });

  test.each([
    [
      'a field that is asked for twice, once behind a condition',
      'query ($c: Boolean!) { a: __typename a: __typename @include(if: $c) }',
    ],
    [
      'a variable inside a literal',
      'query ($r: ID!) { _entities(representations: [{ __typename: "DeviceFingerprint", token: $r }]) { __typename } }',
    ],
    [
      'a variable inside a free-form object',
      'query ($t: String!, $a: String!) { deviceFingerprint(token: $t, metadata: { additional: { list: [$a] } }) { __typename } }',
    ],
    ['an alias that every object has', '{ __proto__: __typename }'],
    [
      'two filters that can fail below one parent',
      'query ($c: Float) { deviceFingerprint(token: "a") { ... on DeviceFingerprint { x: signals(minConfidence: $c) { name } y: signals(minConfidence: $c) { name } } } }',
    ],
    ['a document with two operations', 'query A { __typename } query B { __typename }'],
    [
      'references beside another question, which they can take along if they are too many',
      'query ($r: [_Any!]!) { _entities(representations: $r) { __typename } a: __typename }',
    ],
    [
      'the same behind a fragment',
      'query ($r: [_Any!]!) { ...F } fragment F on Query { _entities(representations: $r) { __typename } a: __typename }',
    ],
    ['a variable with a default', 'query ($t: String = "a") { deviceFingerprint(token: $t) { __typename } }'],
    [
      'a variable called constructor',
      'query ($constructor: String!) { deviceFingerprint(token: $constructor) { __typename } }',
    ],
  ])('%s', (_what, document) => {
    expect(learned(document, 5)).toBeUndefined();
  });

  test('an operation that is asked for by a name that it does not have', () => {
    const operations = createCompiledOperations(schema, neverFails);
    for (const document of ['query A { __typename }', '{ __typename }']) {
      for (let time = 0; time < 3; time += 1) operations.learn(document, parse(document));
      expect(operations.find(document, undefined)).toBeDefined();
      expect(operations.find(document, 'B')).toBeUndefined();
      expect(operations.find(document, '')).toBeUndefined();
    }
    expect(operations.find('query A { __typename }', 'A')).toBeDefined();
    expect(operations.find('{ __typename }', 'A')).toBeUndefined();
  });

  test('documents of more than a million characters together: the least recently asked for is forgotten', () => {
    const operations = createCompiledOperations(schema, neverFails);
    const documents = Array.from({ length: 11 }, (_, at) => `{ a${at}: __typename } # ${' '.repeat(100_000)}`);
    for (const document of documents) {
      for (let time = 0; time < 3; time += 1) operations.learn(document, parse(document));
    }
    expect(operations.find(documents[0] ?? '', undefined)).toBeUndefined();
    expect(operations.find(documents[10] ?? '', undefined)).toBeDefined();
  });

  test('more than 500 operations: the least recently asked for is forgotten', () => {
    const operations = createCompiledOperations(schema, neverFails);
    const learn = (at: number) => {
      const document = `{ a${at}: __typename }`;
      for (let time = 0; time < 3; time += 1) operations.learn(document, parse(document));
      return document;
    };
    const first = learn(0);
    for (let at = 1; at < 500; at += 1) learn(at);
    expect(operations.find(first, undefined)).toBeDefined();
    learn(500);
    expect(operations.find(first, undefined)).toBeDefined();
    expect(operations.find('{ a1: __typename }', undefined)).toBeUndefined();
  });
});
