import { parse } from 'graphql';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDocumentCache, type DocumentCache, loadCompiler } from '../../src/graphql/document-cache.ts';
import { ANY_NAME } from '../../src/graphql/invalid-documents.ts';
import { buildSchema } from '../../src/graphql/schema.ts';

/** Which documents the cache keeps, when it compiles them, and how much memory they may take. */

const schema = buildSchema();
const neverFails = () => expect.unreachable();
beforeAll(loadCompiler);

/** Does with the cache what the server does for a request: it looks the document up, and adds it if it is not there. */
async function request(cache: DocumentCache, source: string): Promise<{ wasKept: boolean }> {
  const kept = cache.findValid(source);
  if (!kept) cache.addValid(parse(source));
  return { wasKept: kept !== undefined };
}

async function requestTimes(cache: DocumentCache, source: string, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await request(cache, source);
}

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

describe('memory', () => {
  const wide = (name: string) => `{ ${Array.from({ length: 300 }, (_, at) => `${name}${at}: __typename`).join(' ')} }`;
  const isCompiled = (cache: DocumentCache, name: string) => cache.findCompiled(wide(name), undefined) !== undefined;
  /** Some 900 tokens and 300 fields each, which is more than 600 KB compiled: 60 of them are more than 32 MiB. */
  const NAMES = Array.from({ length: 60 }, (_, at) => `Q${at}x`);

  test('compiled documents take a bounded part of it, and those that are sent often are the last to go', async () => {
    const cache = createDocumentCache(schema, neverFails);
    for (const name of NAMES) await requestTimes(cache, wide(name), 3);
    const last = NAMES.findIndex((name) => !isCompiled(cache, name));
    expect(last).toBeGreaterThan(40);
    // The last one has no room before it is sent twice as often as the first one, which was sent four times.
    const [first = '', newest = ''] = [NAMES[0], NAMES.at(-1)];
    for (let time = 0; time < 20 && !isCompiled(cache, newest); time += 1) await request(cache, wide(newest));
    expect(isCompiled(cache, newest)).toBe(true);
    expect(NAMES.filter((name) => isCompiled(cache, name))).toHaveLength(last);
    expect(isCompiled(cache, first)).toBe(false);
  });

  test('documents in rotation, of which not all have room, do not take the place of one another', async () => {
    const cache = createDocumentCache(schema, neverFails);
    const rotate = async () => {
      const compiled = NAMES.filter((name) => isCompiled(cache, name));
      for (const name of NAMES) if (!compiled.includes(name)) await request(cache, wide(name));
      return compiled;
    };
    for (let round = 0; round < 3; round += 1) await rotate();
    const before = await rotate();
    expect(before.length).toBeGreaterThan(40);
    for (let round = 0; round < 5; round += 1) expect(await rotate()).toEqual(before);
  });

  test('a document that is not used any more makes room for one that is', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const cache = createDocumentCache(schema, neverFails);
    for (const name of NAMES) await requestTimes(cache, wide(name), 3);
    const newest = NAMES.at(-1) ?? '';
    expect(isCompiled(cache, newest)).toBe(false);
    vi.advanceTimersByTime(10 * 60_000);
    await requestTimes(cache, wide(newest), 3);
    expect(isCompiled(cache, newest)).toBe(true);
  });

  test('documents that never come again do not displace those that do', async () => {
    const cache = createDocumentCache(schema, neverFails);
    await requestTimes(cache, '{ __typename }', 3);
    for (let at = 0; at < 10_000; at += 1) {
      await request(cache, `{ a${at}: __typename }`);
      expect(cache.findCompiled('{ __typename }', undefined)).toBeDefined();
    }
  });

  test('invalid documents have a cache of their own, so that they cannot displace a valid one', async () => {
    const cache = createDocumentCache(schema, neverFails);
    await requestTimes(cache, '{ __typename }', 3);
    const response = { status: 400, errors: [{ message: 'no' }] };
    for (let at = 0; at < 700; at += 1) cache.invalid.add(`{ wrong${at} } # ${'x'.repeat(15_000)}`, ANY_NAME, response);
    expect(cache.findCompiled('{ __typename }', undefined)).toBeDefined();
    expect(cache.invalid.find(`{ wrong699 } # ${'x'.repeat(15_000)}`, undefined)).toMatchObject(response);
    expect(cache.invalid.find(`{ wrong0 } # ${'x'.repeat(15_000)}`, undefined)).toBeUndefined();
  });
});

describe('a document of more than 16,383 characters is never kept, because all of one length would have one hash', () => {
  const ofLength = (start: string, length: number) => start + ' '.repeat(length - start.length);

  test.each([
    [16_383, true],
    [16_384, false],
  ])('with %i characters and valid', async (length, isKept) => {
    const cache = createDocumentCache(schema, neverFails);
    const source = ofLength('{ __typename }', length);
    await requestTimes(cache, source, 2);
    expect(await request(cache, source)).toEqual({ wasKept: isKept });
    expect(cache.findCompiled(source, undefined) !== undefined).toBe(isKept);
  });

  test.each([
    [16_383, true],
    [16_384, false],
  ])('with %i characters and invalid', (length, isKept) => {
    const cache = createDocumentCache(schema, neverFails);
    const source = ofLength('{ wrong }', length);
    cache.invalid.add(source, ANY_NAME, { status: 400, errors: [{ message: 'no' }] });
    expect(cache.invalid.find(source, undefined) !== undefined).toBe(isKept);
  });
});
