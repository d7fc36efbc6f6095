import { Kind, parse, visit } from 'graphql';
import { expect, test } from 'vitest';
import { DocumentCache, keyOf } from '../../src/graphql/documents.ts';
import { times } from '../support/times.ts';

/** Which documents share an entry, and which entries a full cache keeps. */

/** A document with the places of its parts, but without the names of its operations. */
function withoutNames(source: string) {
  const places = ({ loc }: { loc?: { start: number; end: number } | undefined }) => loc && [loc.start, loc.end];
  return visit(parse(source), {
    enter: (node) => ({ ...node, loc: places(node) }),
    leave: (node) => (node.kind === Kind.OPERATION_DEFINITION ? { ...node, name: undefined } : undefined),
  });
}

test.each([
  ['a query', 'query Login { login }', 'Login'],
  ['a mutation', 'mutation Login($a: A!) { login(a: $a) }', 'Login'],
  ['lines before it', '\n  query\n  Login_1{ login }', 'Login_1'],
  ['its name again as a field, a fragment and a text', 'query A { A(a: "query A") ...A } fragment A on A { A }', 'A'],
  ['a keyword as its name', 'query query { query }', 'query'],
  ['several operations', 'query A { a } query B { b }', 'A'],
])('a document that begins with %s is known by all but that name', (_what, source, name) => {
  const { key, name: found } = keyOf(source);
  expect(found).toBe(name);
  expect(key).not.toContain(`y ${name} `);
  expect(withoutNames(key)).toEqual(withoutNames(source));
});

test.each([
  ['no name', 'query { a }'],
  ['no keyword', '{ a }'],
  ['a fragment', 'fragment A on B { b } query A { ...A }'],
  ['a comment', '# query A\nquery A { a }'],
  ['a comment before the name', 'query # B\n A { a }'],
  ['a comma', 'query, A { a }'],
  ['a subscription', 'subscription A { a }'],
  ['a number as its name', 'query 1A { a }'],
  ['a word that begins like a keyword', 'queryA B { a }'],
])('a document that begins with %s is known by its own text', (_what, source) => {
  expect(keyOf(source)).toEqual({ key: source, name: undefined });
});

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
