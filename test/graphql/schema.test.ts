import { readFileSync } from 'node:fs';
import { Kind, parse } from 'graphql';
import { expect, test } from 'vitest';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signals.ts';

test('a signal means in an answer what it means in the schema', () => {
  const { definitions } = parse(readFileSync('schema/fingerprint.graphql', 'utf8'));
  const codes = definitions.find((node) => node.kind === Kind.ENUM_TYPE_DEFINITION && node.name.value === 'SignalCode');
  const described = codes?.kind === Kind.ENUM_TYPE_DEFINITION ? (codes.values ?? []) : [];
  // Fingerprint document, 2.9.
  expect(described).toHaveLength(51);
  const meanings = SIGNAL_CATALOGUE.map(({ code, meaning }) => [code, meaning]);
  expect(Object.fromEntries(described.map(({ name, description }) => [name.value, description?.value]))).toEqual(
    Object.fromEntries(meanings),
  );
});
