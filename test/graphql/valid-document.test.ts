import fc from 'fast-check';
import { parse, specifiedRules, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { buildSchema } from '../../src/graphql/schema.ts';
import { parseValid } from '../../src/graphql/valid-document.ts';
import { documentLimits } from '../../src/server/limits.ts';
import { makeUp } from './random-operations.ts';

/** A document is taken for valid exactly if graphql-js finds no mistake in it. */

const schema = buildSchema();
const rules = [...documentLimits({ maxDepth: 12, maxAliases: 20, maxDirectives: 20 }), ...specifiedRules];
const isValid = (source: string) => parseValid(schema, source, rules, { maxTokens: 1_000 }) !== undefined;

describe('a document with one mistake is not valid', () => {
  // By the rule of graphql-js or of ours that it breaks.
  test.each([
    ['Executable definitions', 'type Query { a: Int }'],
    ['Unique operation names', 'query A { __typename } query A { __typename }'],
    ['Lone anonymous operation', '{ __typename } query A { __typename }'],
    ['Known type names', 'query ($a: Nothing) { __typename @skip(if: $a) }'],
    ['Fragments on composite types', '{ ... on SignalCode { __typename } }'],
    ['Variables are input types', 'query ($a: Signal) { __typename @skip(if: $a) }'],
    ['Scalar leafs', '{ signalCatalogue }'],
    ['Fields on correct type', '{ signalCatalogue { nothing } }'],
    ['Unique fragment names', '{ ...A } fragment A on Query { __typename } fragment A on Query { __typename }'],
    ['Known fragment names', '{ ...A }'],
    ['No unused fragments', '{ __typename } fragment A on Query { __typename }'],
    ['Possible fragment spreads', '{ signalCatalogue { ... on FingerprintDevice { id } } }'],
    ['Possible fragment spreads by name', '{ signalCatalogue { ...A } } fragment A on FingerprintDevice { id }'],
    ['No fragment cycles', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'],
    ['Unique variable names', 'query ($a: Boolean!, $a: Boolean!) { __typename @skip(if: $a) }'],
    ['No undefined variables', '{ __typename @skip(if: $a) }'],
    ['No undefined variables in fragments', '{ ...A } fragment A on Query { __typename @skip(if: $a) }'],
    [
      'No undefined variables in objects',
      '{ deviceFingerprint(token: "t", metadata: { accountId: $a }) { __typename } }',
    ],
    ['No unused variables', 'query ($a: Boolean!) { __typename }'],
    ['Known directives', '{ __typename @nothing }'],
    ['Known directives by location', 'query @skip(if: true) { __typename }'],
    ['Unique directives for each location', '{ __typename @skip(if: true) @skip(if: true) }'],
    ['Known argument names', '{ signalCatalogue(nothing: 1) { name } }'],
    ['Known argument names of directives', '{ __typename @skip(if: true, unless: true) }'],
    ['Unique argument names', '{ __typename @skip(if: true, if: true) }'],
    ['Values of correct type', '{ __typename @skip(if: 1) }'],
    ['Values of correct type in lists', '{ _entities(representations: [null]) { __typename } }'],
    [
      'Values of correct type in objects',
      '{ deviceFingerprint(token: "t", metadata: { accountId: 1 }) { __typename } }',
    ],
    ['Values of correct type as defaults', 'query ($a: Boolean = 1) { __typename @skip(if: $a) }'],
    ['Provided required arguments', '{ deviceFingerprint { __typename } }'],
    ['Provided required arguments of directives', '{ __typename @skip }'],
    ['Variables in allowed position', 'query ($a: Boolean) { __typename @skip(if: $a) }'],
    ['Variables in allowed position in lists', 'query ($a: [_Any]!) { _entities(representations: $a) { __typename } }'],
    [
      'Variables in allowed position in fragments',
      'query ($a: String) { ...A } fragment A on Query { __typename @skip(if: $a) }',
    ],
    ['Overlapping fields can be merged', '{ a: __typename a: _service { sdl } }'],
    [
      'Unique input field names',
      '{ deviceFingerprint(token: "t", metadata: { accountId: "1", accountId: "2" }) { __typename } }',
    ],
    [
      'Introspection depth',
      '{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }',
    ],
    [
      'our limit of aliases',
      `{ ${Array.from({ length: 21 }, (_, at) => `a${at}: signalCatalogue { name }`).join(' ')} }`,
    ],
    ['our limit of directives', `{ ${'... @skip(if: true) { __typename }'.repeat(21)} }`],
    ['our limit of depth', `${'{ ... '.repeat(12)}{ __typename }${' }'.repeat(12)}`],
  ])('%s', (_rule, source) => {
    expect(validate(schema, parse(source), rules)).not.toEqual([]);
    expect(isValid(source)).toBe(false);
  });

  test('syntax', () => {
    expect(isValid('{ __typename')).toBe(false);
  });

  test.each([
    [3, true],
    [2, false],
  ])('three tokens, where at most %i are allowed', (maxTokens, expected) => {
    expect(parseValid(schema, '{ __typename }', rules, { maxTokens }) !== undefined).toBe(expected);
  });
});

describe('a document is valid if graphql-js finds no mistake', () => {
  const expected = (source: string) => {
    try {
      return validate(schema, parse(source, { maxTokens: 1_000 }), rules).length === 0;
    } catch {
      return false;
    }
  };

  test('in operations made up from the schema', () => {
    for (let seed = 0; seed < 300; seed += 1) {
      const { document } = makeUp(seed);
      expect([document, isValid(document)]).toEqual([document, expected(document)]);
    }
  });

  test('in such operations of which one part is missing, double or another one', () => {
    const documents = Array.from({ length: 200 }, (_, seed): string[] => [
      ...(makeUp(seed).document.match(/[\w"]+|\.\.\.|[^\s\w]/g) ?? []),
    ]);
    const parts = [...new Set(documents.flat())];
    const results = { valid: 0, invalid: 0 };
    const change = fc.constantFrom('missing', 'double', 'another');
    fc.assert(
      fc.property(
        fc.constantFrom(...documents),
        fc.nat(),
        change,
        fc.constantFrom(...parts),
        (all, number, how, part) => {
          const at = number % all.length;
          const instead = { missing: [], double: [all[at] ?? '', all[at] ?? ''], another: [part] }[how];
          const source = all.toSpliced(at, 1, ...instead).join(' ');
          expect(isValid(source)).toBe(expected(source));
          results[expected(source) ? 'valid' : 'invalid'] += 1;
        },
      ),
      { numRuns: 800 },
    );
    expect(Math.min(results.valid, results.invalid)).toBeGreaterThan(25);
  });
});
