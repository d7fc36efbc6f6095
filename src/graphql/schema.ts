import { readFileSync } from 'node:fs';
import { buildSubgraphSchema, type GraphQLSchemaModule } from '@apollo/subgraph';
import type { GraphQLSchema } from 'graphql';
import { gql } from 'graphql-tag';
import { countLists } from './cost.ts';
import { isolateRepresentations } from './entities.ts';
import { requireScopes } from './scopes.ts';

/** The path is the same from `src/graphql/` and from the build's `dist/server/`. */
const SCHEMA_FOLDER = new URL('../../schema/', import.meta.url);

/** The SDL in a file of `schema/`. */
export function typeDefs(file: string) {
  return gql(readFileSync(new URL(file, SCHEMA_FOLDER), 'utf8'));
}

/** An executable subgraph schema. It keeps nothing of a request. */
export function buildSchema(modules: GraphQLSchemaModule[]): GraphQLSchema {
  return countLists(isolateRepresentations(requireScopes(printSdlOnce(buildSubgraphSchema(modules)))));
}

/** Printing the SDL takes a millisecond, and @apollo/subgraph prints it for each `_service`. */
function printSdlOnce(schema: GraphQLSchema): GraphQLSchema {
  const field = schema.getQueryType()?.getFields()['_service'];
  const { resolve } = field ?? {};
  let service: unknown;
  if (field && resolve) field.resolve = (...given) => (service ??= resolve(...given));
  return schema;
}
