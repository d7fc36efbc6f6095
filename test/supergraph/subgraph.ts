import { createHash, timingSafeEqual } from 'node:crypto';
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

export interface SubgraphOptions {
  /** Proves that a gateway asks. */
  readonly secret: string;
  /** Port 0, the default, picks a free one. */
  readonly port?: number;
}

/** Serves a schema of this folder to the gateways alone, on loopback, as a team of its own would. */
export async function startSubgraph(
  name: 'users' | 'orders',
  resolvers: Resolvers,
  { secret, port = 0 }: SubgraphOptions,
): Promise<Running> {
  if (secret === '') throw new Error('expected the secret of the router, but got an empty text');
  const typeDefs = parse(readFileSync(join(import.meta.dirname, `${name}.graphql`), 'utf8'));
  const schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
  const accepted = digest(secret);
  return listen((request, response) => {
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    // Whoever else reaches this port could name any person and any scope. Not even the schema is for them.
    const presented = digest(String(request.headers['router-authorization'] ?? ''));
    if (!timingSafeEqual(presented, accepted)) {
      const extensions = { code: 'UNAUTHENTICATED', retryable: false };
      return void send(401, { errors: [{ message: 'Send the secret of the router.', extensions }] });
    }
    answer(schema, request).then(
      (result) => send(200, result),
      () => send(400, { errors: [{ message: 'Send a GraphQL request as JSON.' }] }),
    );
  }, port);
}

/** Always of the same length, as the comparison in constant time needs it. */
function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Rejects if the request is none for GraphQL; what execution comes to is in the result. */
async function answer(schema: GraphQLSchema, request: IncomingMessage): Promise<ExecutionResult> {
  const { query: source, variables: variableValues, operationName } = JSON.parse(await text(request));
  // A header that was sent twice has a comma in it: it names nobody, and allows nothing.
  const { 'x-user-id': person, 'x-user-scopes': scopes } = request.headers;
  const userId = typeof person === 'string' && /^[\w-]{1,64}$/.test(person) ? person : undefined;
  const seesRisk = typeof scopes === 'string' && !scopes.includes(',') && scopes.split(' ').includes('risk:read');
  const contextValue: SubgraphContext = { userId, seesRisk };
  const result = await graphql({ schema, source, variableValues, operationName, contextValue });
  return result.errors ? { ...result, errors: result.errors.map(withoutInternals) } : result;
}

/** What was thrown by mistake was not written for a client, and its message may repeat what one sent. */
function withoutInternals(error: GraphQLError): GraphQLError {
  const { originalError, path } = error;
  if (originalError === undefined || originalError instanceof GraphQLError) return error;
  process.stderr.write(`A subgraph failed: ${originalError.name}\n`);
  const extensions = { code: 'INTERNAL_SERVER_ERROR', retryable: false };
  return new GraphQLError('Something went wrong in this service.', { path, extensions });
}

/** For what has the tag `risk`. */
export function requireScope({ seesRisk }: SubgraphContext): void {
  if (!seesRisk) throw failure('FORBIDDEN', 'This needs the scope risk:read.');
}

/** For what is about this customer. */
export function requireOwnerOrScope(context: SubgraphContext, customerId: string): void {
  if (context.userId !== customerId) requireScope(context);
}

export function failure(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code, retryable: false } });
}
