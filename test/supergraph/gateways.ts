import type { IncomingMessage } from 'node:http';
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';
import { listen, type Running } from './listen.ts';
import { subgraphHeaders } from './subgraph-headers.ts';
import { SIGNED_IN } from './users.ts';

/**
 * Two gateways of other makers, on loopback. A company's gateway sets `x-user-id` and `x-user-scopes` from the session that it
 * verified, its edge overwrites the others, and neither passes on what a client sent. There is no login and no edge here, so a
 * client may say who it is, and is Ada by default.
 */

/** Apollo's gateway for Node, on a free port. */
async function startApolloGateway(supergraphSdl: string): Promise<Running> {
  const server = new ApolloServer<{ userId?: string; headerOf?: (name: string) => string | undefined }>({
    gateway: new ApolloGateway({
      supergraphSdl,
      buildService: ({ name, url = '' }) =>
        new RemoteGraphQLDataSource({
          url,
          willSendRequest: ({ request, context: { userId, headerOf } }) => {
            const headers = subgraphHeaders(name, userId, headerOf);
            for (const header of Object.entries(headers)) request.http?.headers.set(...header);
          },
        }),
    }),
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
  });
  const { url } = await startStandaloneServer(server, {
    listen: { host: '127.0.0.1', port: 0 },
    context: async ({ req }: { req: IncomingMessage }) => ({
      userId: String(req.headers['x-user-id'] ?? SIGNED_IN),
      headerOf: (name: string) => req.headers[name]?.toString(),
    }),
  });
  return { url, stop: () => server.stop() };
}

/**
 * Hive Gateway, with GraphiQL and a query across all subgraphs in it for people with a browser; port 0 picks a free one.
 *
 * @param pageOrigin the one origin whose pages may ask, besides the gateway's own; without it there is none
 */
export async function startHiveGateway(supergraphSdl: string, port = 0, pageOrigin?: string): Promise<Running> {
  const gateway = createGatewayRuntime({
    supergraph: supergraphSdl,
    logging: false,
    // Always set, because by default the gateway allows every origin, with credentials.
    cors: pageOrigin !== undefined && {
      origin: pageOrigin,
      methods: ['POST'],
      allowedHeaders: ['content-type'],
      credentials: false,
      maxAge: 600,
    },
    propagateHeaders: {
      fromClientToSubgraphs: ({ request, subgraphName }) =>
        subgraphHeaders(
          subgraphName,
          request.headers.get('x-user-id') ?? SIGNED_IN,
          (name) => request.headers.get(name) ?? undefined,
        ),
    },
    landingPage: false,
    graphiql: { title: 'Supergraph', defaultQuery: CROSS_SUBGRAPH_QUERY },
    renderGraphiQL,
  });
  const { url, stop } = await listen(gateway, port);
  return {
    url,
    stop: async () => {
      await stop();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

/** Both gateways, by name. What holds through one has to hold through the other. */
export const GATEWAYS = [
  ['Apollo Gateway', startApolloGateway],
  ['Hive Gateway', (supergraphSdl: string) => startHiveGateway(supergraphSdl)],
] as const;
