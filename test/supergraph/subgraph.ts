import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSubgraphSchema, type GraphQLSchemaModule } from '@apollo/subgraph';
import { type ExecutionResult, type GraphQLSchema, graphql, parse } from 'graphql';
import { listen, type Running } from './listen.ts';

type Resolvers = NonNullable<GraphQLSchemaModule['resolvers']>;

/** Serves a schema of this folder, on loopback, as a team of its own would. */
export function startSubgraph(file: string, resolvers: Resolvers, port: number): Promise<Running> {
  const typeDefs = parse(readFileSync(join(import.meta.dirname, file), 'utf8'));
  const schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
  return listen((request, response) => {
    answer(schema, request).then(
      (result) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result)),
      () => response.writeHead(400).end(),
    );
  }, port);
}

/** Rejects if the request is none for GraphQL; whatever happens in its execution is in the result. */
async function answer(schema: GraphQLSchema, request: IncomingMessage): Promise<ExecutionResult> {
  const { query: source, variables: variableValues, operationName } = JSON.parse(await text(request));
  return graphql({ schema, source, variableValues, operationName });
}
