import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSubgraphSchema, type GraphQLSchemaModule } from '@apollo/subgraph';
import { type ExecutionResult, GraphQLError, type GraphQLSchema, graphql, parse } from 'graphql';
import { listen, type Running } from './listen.ts';

type Resolvers = NonNullable<GraphQLSchemaModule['resolvers']>;

/** What resolvers know about a request. */
export interface SubgraphContext {
  /** Who is signed in, from the header `x-user-id`; undefined if the gateway names nobody. */
  readonly userId: string | undefined;
  /** May this person see what is tagged `risk`? From the header `x-user-scopes`, a list with blanks between the scopes. */
  readonly seesRisk: boolean;
}

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
  const contextValue: SubgraphContext = { userId: userIdOf(request), seesRisk: seesRisk(request) };
  const result = await graphql({ schema, source, variableValues, operationName, contextValue });
  return result.errors ? { ...result, errors: result.errors.map(withoutInternals) } : result;
}

/** A header that was sent twice has a comma in it, and names nobody. */
function userIdOf({ headers }: IncomingMessage): string | undefined {
  const header = headers['x-user-id'];
  return typeof header === 'string' && /^[\w-]{1,64}$/.test(header) ? header : undefined;
}

/** A header that was sent twice has a comma in it, and allows nothing. */
function seesRisk({ headers }: IncomingMessage): boolean {
  const header = headers['x-user-scopes'];
  return typeof header === 'string' && !header.includes(',') && header.split(' ').includes('risk:read');
}

/** What was thrown by mistake was not written for a client. */
function withoutInternals(error: GraphQLError): GraphQLError {
  const { originalError, path } = error;
  if (originalError === undefined || originalError instanceof GraphQLError) return error;
  const extensions = { code: 'INTERNAL_SERVER_ERROR', retryable: false };
  return new GraphQLError('Something went wrong in this service.', { path, extensions });
}
