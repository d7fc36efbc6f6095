import { parse } from 'graphql';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDocumentCache, loadCompiler } from '../../src/graphql/document-cache.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import { request, requestTimes } from './requested-documents.ts';

/** Which documents the cache knows, and when it compiles them. */

const schema = buildSchema();
const neverFails = () => expect.unreachable();
beforeAll(loadCompiler);

test.each([
  ['query Long { __typename }', 'query  { __typename }', { line: 1, column: 14 }, { line: 1, column: 10 }],
  ['\n\n query Long { __typename }', '\n\n query  { __typename }', { line: 3, column: 15 }, { line: 3, column: 11 }],
  ['query  { __typename }', 'query Long { __typename }', { line: 1, column: 10 }, { line: 1, column: 14 }],
  ['\rquery  { __typename }', '\rquery Long { __typename }', { line: 2, column: 10 }, { line: 2, column: 14 }],
])('an error of %j is where it is in %j', async (compiled, sent, location, expected) => {
  const cache = createDocumentCache(schema, neverFails);
  await requestTimes(cache, compiled, 3);
  const found = cache.findCompiled(sent, undefined);
  expect(found?.relocate({ message: '', locations: [location] }).locations).toEqual([expected]);
});

async function compiledAfter(times: number, source: string) {
  const cache = createDocumentCache(schema, neverFails);
  await requestTimes(cache, source, times);
  return cache.findCompiled(source, undefined);
}

describe('a document', () => {
  test('is known to be valid from its second time on, and compiled at its third', async () => {
    const cache = createDocumentCache(schema, neverFails);
    expect(await request(cache, '{ __typename }')).toEqual({ wasKept: false });
    expect(await request(cache, '{ __typename }')).toEqual({ wasKept: true });
    expect(cache.findCompiled('{ __typename }', undefined)).toBeUndefined();
    expect(await request(cache, '{ __typename }')).toEqual({ wasKept: true });
    expect(cache.findCompiled('{ __typename }', undefined)).toBeDefined();
  });

  test('is not compiled before the compiler is loaded, and is at its next time after that', async () => {
    vi.resetModules();
    const fresh = await import('../../src/graphql/document-cache.ts');
    const cache = fresh.createDocumentCache(schema, neverFails);
    const isCompiled = () => cache.findCompiled('{ __typename }', undefined) !== undefined;
    cache.addValid(parse('{ __typename }'));
    expect(isCompiled()).toBe(false);
    await fresh.loadCompiler();
    expect(isCompiled()).toBe(false);
    cache.findValid('{ __typename }');
    cache.findValid('{ __typename }');
    expect(isCompiled()).toBe(true);
  });

  test('is not compiled as long as the compiler cannot be loaded, and is soon after it can be', async () => {
    vi.resetModules();
    vi.doMock('../../src/graphql/compile.ts', () => {
      throw new Error('EMFILE');
    });
    onTestFinished(() => void vi.doUnmock('../../src/graphql/compile.ts'));
    const fresh = await import('../../src/graphql/document-cache.ts');
    const onLoadFailure = vi.fn();
    const cache = fresh.createDocumentCache(schema, onLoadFailure);
    await cache.loadCompiler();
    expect(onLoadFailure).toHaveBeenCalledOnce();
    await requestTimes(cache, '{ __typename }', 5);
    expect(cache.findCompiled('{ __typename }', undefined)).toBeUndefined();
    vi.doUnmock('../../src/graphql/compile.ts');
    const askAgain = async () => {
      await request(cache, '{ __typename }');
      return cache.findCompiled('{ __typename }', undefined);
    };
    await expect.poll(askAgain, { timeout: 10_000 }).toBeDefined();
  });

  test('gives its compiled operation only to requests that name it, or name none', async () => {
    const cache = createDocumentCache(schema, neverFails);
    for (const source of ['query A { __typename }', '{ __typename }']) {
      await requestTimes(cache, source, 3);
      expect(cache.findCompiled(source, undefined)).toBeDefined();
      expect(cache.findCompiled(source, 'B')).toBeUndefined();
      expect(cache.findCompiled(source, '')).toBeUndefined();
    }
    expect(cache.findCompiled('query A { __typename }', 'A')).toBeDefined();
    expect(cache.findCompiled('{ __typename }', 'A')).toBeUndefined();
  });

  test('shares its compiled operation with those that differ in the name only', async () => {
    const cache = createDocumentCache(schema, neverFails);
    const named = (name: string) => `query ${name} { __typename }`;
    for (const name of ['A', 'B', 'C']) await request(cache, named(name));
    const first = cache.findCompiled(named('A'), 'A');
    expect(first).toMatchObject({ name: 'A' });
    expect(cache.findCompiled(named('Never_sent'), undefined)).toMatchObject({
      name: 'Never_sent',
      compiled: first?.compiled,
    });
    expect(cache.findCompiled(named('A'), 'B')).toBeUndefined();
    expect(cache.findCompiled('query  { a: __typename }', undefined)).toBeUndefined();
  });

  test('with a name that is not at its beginning has this name', async () => {
    const cache = createDocumentCache(schema, neverFails);
    const source = 'fragment F on Query { __typename } query A { ...F }';
    await requestTimes(cache, source, 3);
    expect(cache.findCompiled(source, 'A')).toMatchObject({ name: 'A' });
    expect(cache.findCompiled(source, undefined)).toMatchObject({ name: 'A' });
  });

  test('with several operations is known under its own name only, because two of one name are not valid', () => {
    const cache = createDocumentCache(schema, neverFails);
    const named = (name: string) => `query ${name} { __typename } query B { __typename }`;
    cache.addValid(parse(named('A')));
    expect(cache.findValid(named('A'))).toBeDefined();
    expect(cache.findValid(named('B'))).toBeUndefined();
  });
});

describe('a document is never compiled', () => {
  test.each([
    [
      'with a field that is selected twice, once with a condition',
      'query ($c: Boolean!) { a: __typename a: __typename @include(if: $c) }',
    ],
    [
      'with a variable inside a literal',
      'query ($r: ID!) { _entities(representations: [{ __typename: "DeviceFingerprint", token: $r }]) { __typename } }',
    ],
    [
      'with a variable inside a free-form object',
      'query ($t: String!, $a: String!) { deviceFingerprint(token: $t, metadata: { additional: { list: [$a] } }) { __typename } }',
    ],
    ['with an alias that every object has', '{ __proto__: __typename }'],
    ['with two operations', 'query A { __typename } query B { __typename }'],
    [
      'with references beside another field, which they can set to null if they are too many',
      'query ($r: [_Any!]!) { _entities(representations: $r) { __typename } a: __typename }',
    ],
    [
      'with the same in a fragment',
      'query ($r: [_Any!]!) { ...F } fragment F on Query { _entities(representations: $r) { __typename } a: __typename }',
    ],
    ['with a default of a variable', 'query ($t: String = "a") { deviceFingerprint(token: $t) { __typename } }'],
    [
      'with a variable called constructor',
      'query ($constructor: String!) { deviceFingerprint(token: $constructor) { __typename } }',
    ],
  ])('%s', async (_what, source) => {
    expect(await compiledAfter(5, source)).toBeUndefined();
  });

  const aliases = (count: number) => {
    const fields = Array.from({ length: count }, (_, at) => `a${at}: deviceFingerprint(token: $t) { ...F }`);
    // Each alias stands for five fields: itself and the four of the fragment.
    return `query ($t: String!) { ${fields.join(' ')} } fragment F on DeviceFingerprint { requestId eventId device { id } }`;
  };

  test('if it selects more than 500 fields, each fragment counted wherever it is spread', async () => {
    expect(await compiledAfter(5, aliases(100))).toBeDefined();
    expect(await compiledAfter(5, aliases(101))).toBeUndefined();
  });

  test('if its fragments double the fields with each level, which must not take long to find out', async () => {
    const levels = Array.from({ length: 40 }, (_, at) => `fragment F${at} on Query { ...F${at + 1} ...F${at + 1} }`);
    expect(
      await compiledAfter(3, `{ ...F0 } ${levels.join(' ')} fragment F40 on Query { __typename }`),
    ).toBeUndefined();
  });
});
