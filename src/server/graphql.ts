import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApolloServer, HeaderMap } from '@apollo/server';
import { type Capabilities, createContext, type GraphQLContext } from '../graphql/context.ts';
import { readJsonBody } from './body.ts';
import { startOperation, type Telemetry } from './operation.ts';
import { send } from './response.ts';

/** What answers GraphQL requests. */
export interface GraphqlOptions {
  readonly apollo: ApolloServer<GraphQLContext>;
  readonly capabilities: Capabilities;
  readonly maxBodyBytes: number;
  readonly telemetry: Telemetry;
}

/**
 * Answers one GraphQL request. When the connection closes, be it that the answer is out or that the caller hung up, every
 * upstream call that is still under way is aborted.
 *
 * @throws RequestRefused if the HTTP request cannot be a GraphQL one
 */
export async function answerGraphql(
  { apollo, capabilities, maxBodyBytes, telemetry }: GraphqlOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = request.method === 'POST' ? await readJsonBody(request, maxBodyBytes) : undefined;
  if (response.destroyed) return;
  const operation = startOperation(request.headers, telemetry);
  response.once('close', operation.cancel);
  let status = 500; // until there is an answer
  try {
    const {
      status: given = 200,
      headers,
      body: answer,
    } = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method: request.method ?? '', headers: toHeaderMap(request), search: '', body },
      context: async () => createContext(capabilities, operation),
    });
    // Incremental delivery is not enabled, so there is no other kind.
    if (answer.kind !== 'complete') throw new Error(`expected a complete answer, but got a ${answer.kind} one`);
    status = given;
    send(response, status, Object.fromEntries(headers), answer.string);
  } finally {
    operation.end(status);
  }
}

function toHeaderMap({ headers }: IncomingMessage): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return map;
}
