import { concatAST, type DocumentNode, Kind, visit } from 'graphql';
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
  return concatAST([shared, own]);
}

export function schemaOf(slices: readonly Slice[]) {
  const nothing: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };
  return buildSchema([
    { typeDefs: documentOf(slices), resolvers: { DateTime, JSONObject } },
    ...slices.map((slice) => ({ typeDefs: nothing, resolvers: slice.resolvers })),
  ]);
}
