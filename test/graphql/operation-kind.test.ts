import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { kindOf } from '../../src/graphql/operation-kind.ts';

/** What an operation is, in words of the schema. */

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
