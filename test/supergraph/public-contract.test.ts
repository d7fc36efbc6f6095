import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { COMPOSERS, type ComposeContract } from './contracts.ts';
import { readSubgraphs } from './public-schema.ts';

/**
 * What browsers get of this subgraph: the contract variant without the tag `risk` (schema/README.md, Frontends). One list
 * says what that is, whichever composer made it, down to the values of enums: their descriptions teach an attacker as well.
 */

const EXPECTED: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/public-contract.json'), 'utf8'),
);

const subgraphs = readSubgraphs();
/** Types that this subgraph defines, and fields of the root types. What neighbours alone define is theirs. */
const ours = definedBy('device-trust');
const theirs = definedBy('users', 'orders');

describe.each(COMPOSERS)('composed by %s', (_name, compose) => {
  test('the public contract is what the list says, and no more', () => {
    expect(contractOf(compose)).toEqual(EXPECTED);
  });

  test('without that exclusion there is more, so the list would fail', () => {
    const everything = contractOf(compose, 'a-tag-that-nothing-has');
    expect(Object.keys(everything)).toEqual(expect.arrayContaining(['SignalCode', 'SignalLevel', 'RiskDecision']));
    expect(everything['DeviceFingerprint']).toContain('signals');
  });
});

function contractOf(compose: ComposeContract, exclude = 'risk') {
  const types = Object.values(compose(subgraphs, exclude).getTypeMap());
  const named = types.filter(({ name }) => !name.startsWith('__') && !BUILT_IN.has(name));
  const shared = (name: string) => (['Query', 'Mutation'].includes(name) ? theirs.get(name) : undefined) ?? new Set();
  return Object.fromEntries(
    named
      .filter(({ name }) => ours.has(name) || !theirs.has(name))
      .map((type) => [type.name, membersOf(type).filter((member) => !shared(type.name).has(member))]),
  );
}

const BUILT_IN = new Set(['String', 'Int', 'Float', 'Boolean', 'ID']);

function membersOf(type: GraphQLNamedType): readonly string[] {
  if (isUnionType(type))
    return type
      .getTypes()
      .map(({ name }) => name)
      .sort();
  if (isEnumType(type))
    return type
      .getValues()
      .map(({ name }) => name)
      .sort();
  const hasFields = isObjectType(type) || isInterfaceType(type) || isInputObjectType(type);
  return hasFields ? Object.keys(type.getFields()).sort() : [];
}

/** Names of the types that these subgraphs define, each with its fields. */
function definedBy(...names: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const definitions = subgraphs
    .filter(({ name }) => names.includes(name))
    .flatMap(({ typeDefs }) => typeDefs.definitions);
  const fields = new Map<string, Set<string>>();
  for (const definition of definitions) {
    if (!('name' in definition) || !definition.name) continue;
    const known = fields.get(definition.name.value) ?? new Set();
    fields.set(definition.name.value, known);
    const members = 'fields' in definition ? (definition.fields ?? []) : [];
    for (const { name } of members) known.add(name.value);
  }
  return fields;
}
