import { readFileSync } from 'node:fs';
import { buildSubgraphSchema, type GraphQLSchemaModule } from '@apollo/subgraph';
import { concatAST, type GraphQLSchema } from 'graphql';
import { gql } from 'graphql-tag';
import { countLists } from './cost.ts';
import { isolateRepresentations } from './entities.ts';
import { captchaResolvers, fingerprintResolvers } from './resolvers.ts';
import { DateTime, JSONObject } from './scalars.ts';
import { requireScopes } from './scopes.ts';

/** The path is the same from `src/graphql/` and from the build's `dist/server/`. */
const SCHEMA_FOLDER = new URL('../../schema/', import.meta.url);

function typeDefs(file: string) {
  return gql(readFileSync(new URL(file, SCHEMA_FOLDER), 'utf8'));
}

const MODULES: GraphQLSchemaModule[] = [
  { typeDefs: typeDefs('schema.graphql'), resolvers: { DateTime, JSONObject } },
  { typeDefs: typeDefs('fingerprint.graphql'), resolvers: fingerprintResolvers },
  { typeDefs: typeDefs('captcha.graphql'), resolvers: captchaResolvers },
];

/** Our SDL. */
export const SUBGRAPH_DOCUMENT = concatAST(MODULES.map(({ typeDefs }) => typeDefs));

/** Our schema. It keeps nothing of a request. */
export const SUBGRAPH_SCHEMA = buildSchema();

/** An executable subgraph schema: the SDL of `schema/` with the resolvers of each capability, or other modules. */
export function buildSchema(modules = MODULES): GraphQLSchema {
  return countLists(isolateRepresentations(requireScopes(buildSubgraphSchema(modules))));
}
