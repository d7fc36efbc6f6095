import { expect, test } from 'vitest';
import { DocumentCache } from '../../src/graphql/documents.ts';
import { times } from '../support/times.ts';

/** Which entries a full cache keeps. */

/** Fills a cache for ten entries with twenty, and says which it has. */
function fill(inUseMs?: number): number[] {
  const cache = new DocumentCache<string, object>(1_000, inUseMs);
  times(20, (at) => cache.add(`${at}`, {}, 100));
  return times(20, (at) => at).filter((at) => cache.get(`${at}`));
}

test('a full cache keeps the documents of the last minute, however many others come', () => {
  expect(fill()).toEqual(times(10, (at) => at));
});

test('a document that was not used for a minute makes room', () => {
  expect(fill(0)).toEqual(times(10, (at) => at + 10));
});
