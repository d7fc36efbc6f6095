import type { IncomingMessage } from 'node:http';
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { unifiedGraphHandler } from '@graphql-hive/router-runtime';
import { startHiveGateway } from './gateways.ts';
import type { Running } from './listen.ts';
import type { HeaderOf, Identify } from './people.ts';
import { SECRETS, subgraphHeaders } from './test-secrets.ts';

/** The gateways of two makers, in which tests say themselves who asks and with which scopes, as if a login had found that out. */

/** Without a word it is Ada, without a scope. */
export const asClaimed: Identify = (headerOf) => ({
  id: headerOf('x-user-id') ?? 'user-1',
  scopes: headerOf('x-user-scopes') ?? '',
});

/** The headers with which a test claims the scope that everything tagged `risk` needs. */
export const CLAIMED_SCOPE = { 'x-user-scopes': 'risk:read' } as const;

async function startApolloGateway(supergraphSdl: string): Promise<Running> {
  const server = new ApolloServer<{ headerOf?: HeaderOf }>({
    gateway: new ApolloGateway({
      supergraphSdl,
      buildService: ({ name, url = '' }) =>
        new RemoteGraphQLDataSource({
          url,
          willSendRequest: ({ request, context: { headerOf } }) => {
            const headers = subgraphHeaders(name, headerOf && asClaimed(headerOf));
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
      headerOf: (name: string) => req.headers[name]?.toString(),
    }),
  });
  return { url, stop: () => server.stop() };
}

/** The planners of Hive Gateway: its own, and the one in Rust. */
export const PLANNERS = [
  ['Hive Gateway', {}],
  ['Hive Gateway with the planner in Rust', { unifiedGraphHandler }],
] as const;

/** What holds through one has to hold through the others. */
export const GATEWAYS: readonly (readonly [string, (supergraphSdl: string) => Promise<Running>])[] = [
  ['Apollo Gateway', startApolloGateway],
  ...PLANNERS.map(([name, changes]) => {
    const start = (supergraphSdl: string) =>
      startHiveGateway(supergraphSdl, { identify: asClaimed, secrets: SECRETS, changes });
    return [name, start] as const;
  }),
];
