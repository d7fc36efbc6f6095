import type { IncomingMessage } from 'node:http';
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { createGatewayRuntime, type GatewayPlugin } from '@graphql-hive/gateway-runtime';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { listen, type Running } from './listen.ts';
import { asClaimed, type Identify } from './people.ts';
import { type HeaderOf, subgraphHeaders } from './subgraph-headers.ts';

/**
 * Two gateways of other makers, on loopback. A gateway finds out who asks, sets `x-user-id` and `x-user-scopes` itself, and
 * passes on neither of a client. The edge before it overwrites the other headers; there is no edge here.
 */

/** Apollo's gateway for Node, on a free port. */
async function startApolloGateway(supergraphSdl: string, identify: Identify): Promise<Running> {
  const server = new ApolloServer<{ headerOf?: HeaderOf }>({
    gateway: new ApolloGateway({
      supergraphSdl,
      buildService: ({ name, url = '' }) =>
        new RemoteGraphQLDataSource({
          url,
          willSendRequest: ({ request, context: { headerOf } }) => {
            const headers = subgraphHeaders(name, headerOf && identify(headerOf), headerOf);
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

interface HiveOptions {
  /** Says who asks. Whoever it does not know gets 401, whatever they ask and however they send it. */
  readonly identify: Identify;
  /** Port 0, the default, picks a free one. */
  readonly port?: number;
  /** The one origin whose pages may ask, besides the gateway's own; without it there is none. */
  readonly pageOrigin?: string;
  /** The question that GraphiQL shows to people with a browser. */
  readonly question?: string;
}

const QUESTION = '{ me { name orders { id item status } } }';

/** Hive Gateway, with GraphiQL in it. */
export async function startHiveGateway(supergraphSdl: string, options: HiveOptions): Promise<Running> {
  const { identify, port = 0, pageOrigin, question = QUESTION } = options;
  const gateway = createGatewayRuntime({
    supergraph: supergraphSdl,
    logging: false,
    // Always set, because by default the gateway allows every origin, with credentials.
    cors: pageOrigin !== undefined && {
      origin: pageOrigin,
      methods: ['POST'],
      allowedHeaders: ['content-type', 'authorization'],
      credentials: false,
      maxAge: 600,
    },
    propagateHeaders: {
      fromClientToSubgraphs: ({ request, subgraphName }) => {
        const headerOf = headersOf(request);
        return subgraphHeaders(subgraphName, identify(headerOf), headerOf);
      },
    },
    plugins: () => [questionsOnly(identify)],
    landingPage: false,
    graphiql: { title: 'Supergraph', defaultQuery: question },
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

/**
 * Answers questions only to somebody who is signed in, and only if they are sent as JSON by POST. A page of any origin can send
 * a GET or a form without a preflight, which would make events, and a form even orders.
 */
function questionsOnly(identify: Identify): GatewayPlugin {
  return {
    onRequest({ request, fetchAPI, endResponse }) {
      const { method, headers } = request;
      const refuse = (status: number, code: string, message: string) => {
        const error = { message, extensions: { code, retryable: false } };
        endResponse(fetchAPI.Response.json({ errors: [error] }, { status }));
      };
      // GraphiQL is a page without answers, and a preflight asks nothing.
      if (method === 'OPTIONS' || (method === 'GET' && headers.get('accept')?.includes('text/html'))) return;
      if (method !== 'POST') refuse(405, 'BAD_REQUEST', 'Send questions by POST.');
      else if (!identify(headersOf(request))) refuse(401, 'UNAUTHENTICATED', 'Sign in to ask.');
      else if (!JSON_BODY.test(headers.get('content-type') ?? ''))
        refuse(415, 'BAD_REQUEST', 'Send questions as JSON.');
    },
  };
}

const JSON_BODY = /^application\/json *(;|$)/i;

function headersOf({ headers }: { readonly headers: Headers }): HeaderOf {
  return (name) => headers.get(name) ?? undefined;
}

/** Both gateways, by name, for whoever a test claims to be. What holds through one has to hold through the other. */
export const GATEWAYS = [
  ['Apollo Gateway', (supergraphSdl: string) => startApolloGateway(supergraphSdl, asClaimed)],
  ['Hive Gateway', (supergraphSdl: string) => startHiveGateway(supergraphSdl, { identify: asClaimed })],
] as const;
