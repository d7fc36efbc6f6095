import { concatAST, type DefinitionNode, type DocumentNode, Kind, visit } from 'graphql';
import { DateTime, JSONObject } from './graphql/scalars.ts';
import { buildSchema } from './graphql/schema.ts';
import { typeDefs } from './graphql/type-defs.ts';
import type { Slice } from './slice.ts';

/** The subgraph of the slices that are on. */

const SHARED = typeDefs('schema.graphql');

/** The SDL of these slices, with the shared scalars and the imported directives that they use. */
export function documentOf(slices: readonly Slice[]): DocumentNode {
  const own = concatAST(slices.map((slice) => slice.typeDefs));
  const used = new Set<string>();
  visit(own, {
    Directive: ({ name }) => void used.add(`@${name.value}`),
    NamedType: ({ name }) => void used.add(name.value),
  });
  const shared = visit(SHARED, {
    ScalarTypeDefinition: ({ name }) => (used.has(name.value) ? undefined : null),
    ListValue: (list) => ({
      ...list,
      values: list.values.filter((item) => 'value' in item && used.has(`${item.value}`)),
    }),
  });
  return { kind: Kind.DOCUMENT, definitions: withMergedRoots([...shared.definitions, ...own.definitions]) };
}

/** Merges the definitions of each root type, because GraphQL allows one definition of a type. */
function withMergedRoots(definitions: readonly DefinitionNode[]): DefinitionNode[] {
  const objectTypes = definitions.filter((type) => type.kind === Kind.OBJECT_TYPE_DEFINITION);
  const isRoot = (name: string) => name === 'Query' || name === 'Mutation';
  return definitions.flatMap((type) => {
    if (type.kind !== Kind.OBJECT_TYPE_DEFINITION || !isRoot(type.name.value)) return [type];
    const same = objectTypes.filter(({ name }) => name.value === type.name.value);
    return same[0] === type ? [{ ...type, fields: same.flatMap(({ fields = [] }) => fields) }] : [];
  });
}

export function schemaOf(slices: readonly Slice[]) {
  const nothing: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };
  return buildSchema([
    { typeDefs: documentOf(slices), resolvers: { DateTime, JSONObject } },
    ...slices.map((slice) => ({ typeDefs: nothing, resolvers: slice.resolvers })),
  ]);
}
