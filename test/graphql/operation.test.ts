import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { kindOf } from '../../src/graphql/operation-kind.ts';
import { type NamedDocument, splitName } from '../../src/graphql/operation-name.ts';

/** What an operation is, in words of the schema, and which documents count as the same under another name. */

/** The document as it was before its name was taken out. */
const joined = ({ text, name = '', start }: NamedDocument) => text.slice(0, start) + name + text.slice(start);

describe('the name of an operation', () => {
  test.each([
    ['query A { a }', 'A', 'query  { a }'],
    ['mutation Do_1($a: Int) { a }', 'Do_1', 'mutation ($a: Int) { a }'],
    ['\n  query A @d { a }', 'A', '\n  query  @d { a }'],
    ['query A{a} fragment F on T { a }', 'A', 'query {a} fragment F on T { a }'],
    ['query query { a }', 'query', 'query  { a }'],
  ])('of %j is %j', (source, name, text) => {
    const named = splitName(source);
    expect(named).toMatchObject({ name, text });
    expect(joined(named)).toBe(source);
  });

  test.each([
    '{ a }',
    'query { a }',
    'query ($a: Int) { a }',
    '# comment\nquery A { a }',
    'fragment F on T { a } query A { ...F }',
    'query A B { a }',
    'query A, { a }',
    'query A # { a }',
    'query 1A { a }',
    'queryA { a }',
    'query\u00a0A { a }',
    'query A\u00a0{ a }',
    'subscription A { a }',
  ])('of %j is not taken out', (source) => {
    expect(splitName(source)).toEqual({ text: source, name: undefined, start: 0 });
  });
});

describe('documents of one text', () => {
  const parses = (source: string) => {
    try {
      return Boolean(parse(source));
    } catch {
      return false;
    }
  };

  test('all parse, or none does', () => {
    const PIECES = [
      'query',
      'mutation',
      ' ',
      '\n',
      ',',
      'A',
      'B1',
      '(',
      '$a',
      ':',
      'Int',
      ')',
      '@d',
      '{',
      'a',
      '}',
      '#',
      '\ufeff',
      '\u00a0',
    ];
    const byText = new Map<string, Map<boolean, string>>();
    let shared = 0;
    // Every sequence of up to three pieces between two keywords and two endings.
    const middles = ['', ...PIECES, ...PIECES.flatMap((one) => PIECES.map((other) => one + other))];
    for (const start of ['query', ' query', 'query ', 'mutation '])
      for (const middle of middles.flatMap((one) => [one, ...PIECES.map((other) => one + other)]))
        for (const end of ['{ a }', ' { a }']) {
          const source = start + middle + end;
          const { text } = splitName(source);
          const known = byText.get(text) ?? new Map<boolean, string>();
          if (known.size > 0) shared += 1;
          byText.set(text, known.set(parses(source), source));
        }
    expect(shared).toBeGreaterThan(100);
    expect([...byText.values()].filter((known) => known.size > 1).map((known) => [...known.values()])).toEqual([]);
  });
});

describe('the kind of an operation', () => {
  const kindIn = (source: string) => {
    const document = parse(source);
    const operation = document.definitions.find((definition) => definition.kind === 'OperationDefinition');
    if (!operation) throw new Error('expected an operation');
    return kindOf(document, operation);
  };

  test.each([
    ['one field', '{ deviceFingerprint(token: "a") { __typename } }', 'query', 'deviceFingerprint'],
    ['a mutation', 'mutation { validateCaptcha { proceed } }', 'mutation', 'validateCaptcha'],
    ['an alias', '{ made_up: deviceFingerprint(token: "a") { __typename } }', 'query', 'deviceFingerprint'],
    ['a field twice', '{ a: deviceFingerprint b: deviceFingerprint }', 'query', 'deviceFingerprint'],
    ['__typename beside a field', '{ __typename _entities { __typename } }', 'query', '_entities'],
    ['the schema alone', '{ __schema { types { name } } __typename }', 'query', 'introspection'],
    ['different fields', '{ deviceFingerprint signalCatalogue { code } }', 'query', 'several'],
    ['an inline fragment', '{ ... on Query { ... { signalCatalogue { code } } } }', 'query', 'signalCatalogue'],
    [
      'fragments that spread another one',
      'fragment B on Query { signalCatalogue { code } } { ...A ...B } fragment A on Query { ...B }',
      'query',
      'signalCatalogue',
    ],
    [
      'different fields, one of them in a fragment',
      '{ deviceFingerprint ...A } fragment A on Query { signalCatalogue { code } }',
      'query',
      'several',
    ],
  ])('of an operation with %s', (_what, source, type, field) => {
    expect(kindIn(source)).toEqual({ type, field, name: undefined });
  });

  test('has the name of the document', () => {
    expect(kindIn('query Login { signalCatalogue { code } }').name).toBe('Login');
  });
});
