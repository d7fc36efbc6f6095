import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApolloServer, HeaderMap } from '@apollo/server';
import { DeviceTrustError } from '../errors.ts';
import { type Capabilities, createContext, type GraphQLContext } from '../graphql/context.ts';
import { readJsonBody } from './body.ts';
import { send } from './response.ts';

/** What answers GraphQL requests. */
export interface GraphqlOptions {
  readonly apollo: ApolloServer<GraphQLContext>;
  readonly capabilities: Capabilities;
  readonly maxBodyBytes: number;
}

/**
 * Answers one GraphQL request. When the connection closes, be it that the answer is out or that the caller hung up, every
 * upstream call that is still under way is aborted.
 *
 * @throws RequestRefused if the HTTP request cannot be a GraphQL one
 */
export async function answerGraphql(
  { apollo, capabilities, maxBodyBytes }: GraphqlOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const over = new AbortController();
  response.once('close', () => over.abort(new DeviceTrustError('CANCELLED')));
  const body = request.method === 'POST' ? await readJsonBody(request, maxBodyBytes) : undefined;
  const {
    status,
    headers,
    body: answer,
  } = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: request.method ?? '', headers: toHeaderMap(request), search: '', body },
    context: async () => createContext(capabilities, over.signal),
  });
  // Incremental delivery is not enabled, so there is no other kind.
  if (answer.kind !== 'complete') throw new Error(`expected a complete answer, but got a ${answer.kind} one`);
  send(response, status ?? 200, Object.fromEntries(headers), answer.string);
}

function toHeaderMap({ headers }: IncomingMessage): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return map;
}
