import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { Execution } from '../../src/graphql/execution.ts';
import { buildSchema } from '../../src/graphql/schema.ts';

/** Which operations are known, and what each of them is in words of the schema. */

const LIMITS = { maxCost: 1_000, maxRepresentations: 10 };
const started = () => new Execution(buildSchema(), LIMITS);

function add(to: Execution, source: string): void {
  const document = parse(source);
  const [operation] = document.definitions;
  if (operation?.kind !== 'OperationDefinition') throw new Error('expected an operation first');
  to.add(document, operation);
}

describe('a document', () => {
  test('stays as it is when Apollo Server takes it in again, as for a trace', () => {
    const known = started();
    const source = 'query ($t: String!) { deviceFingerprint(token: $t) { __typename } }';
    add(known, source);
    for (let time = 0; time < 3; time += 1) known.find(source, undefined);
    add(known, source);
    expect(known.find(source, undefined)?.compiled).toBeDefined();
  });

  test('is compiled when it is found for the third time, unless graphql-js could answer it otherwise', () => {
    const compiledAt = (source: string) => {
      const known = started();
      add(known, source);
      return [1, 2, 3, 4].map(() => known.find(source, undefined)?.compiled !== undefined);
    };
    expect(compiledAt('query ($t: String!) { deviceFingerprint(token: $t) { __typename } }')).toEqual([
      false,
      false,
      true,
      true,
    ]);
    for (const source of [
      '{ a: __typename b: __typename }',
      '{ signalCatalogue { code @skip(if: false) } }',
      'query ($t: String! = "t") { deviceFingerprint(token: $t) { __typename } }',
      'query ($r: _Any!) { _entities(representations: [$r]) { __typename } }',
      '{ constructor: __typename }',
      `{ signalCatalogue { ${Array.from({ length: 10 }, (_, at) => `a${at}: code`).join(' ')} } }`,
    ])
      expect(compiledAt(source), source).not.toContain(true);
  });

  test('makes room for others once there are too many', () => {
    const known = started();
    const document = (at: number) => `{ a${at}: __typename } # ${'x'.repeat(1_000)}`;
    for (let at = 0; at < 300; at += 1) add(known, document(at));
    const kept = Array.from({ length: 300 }, (_, at) => known.find(document(at), undefined) !== undefined);
    expect([kept[0], kept[299]]).toEqual([false, true]);
    expect(kept.filter(Boolean).length).toBeGreaterThan(150);
  });
});

describe('the kind of an operation', () => {
  const execution = started();
  const kindIn = (source: string) => {
    const document = parse(source);
    const operation = document.definitions.find((definition) => definition.kind === 'OperationDefinition');
    if (!operation) throw new Error('expected an operation');
    return execution.add(document, operation).kind;
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
