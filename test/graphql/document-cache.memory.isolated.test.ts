import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDocumentCache, type DocumentCache, loadCompiler } from '../../src/graphql/document-cache.ts';
import { ANY_NAME } from '../../src/graphql/invalid-documents.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import { request, requestTimes } from './requested-documents.ts';

/** How much memory the documents of the cache may take, and which of them make room for others. */

const schema = buildSchema();
const neverFails = () => expect.unreachable();
beforeAll(loadCompiler);

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
