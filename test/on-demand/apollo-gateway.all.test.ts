import type { IncomingMessage } from 'node:http';
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { describeGateways } from '../supergraph/gateway-promises.ts';
import type { Running } from '../supergraph/listen.ts';
import type { HeaderOf } from '../supergraph/people.ts';
import { asClaimed } from '../supergraph/test-gateways.ts';
import { subgraphHeaders } from '../supergraph/test-secrets.ts';

/** What holds through Hive Gateway holds through Apollo Gateway. */

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

describeGateways([['Apollo Gateway', startApolloGateway]]);
