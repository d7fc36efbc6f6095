import { createGatewayRuntime, type GatewayPlugin } from '@graphql-hive/gateway-runtime';
import { configFor, type SignedIn } from '../../deploy/router/hive-gateway.ts';
import { DEVELOPMENT_ORIGIN } from '../../src/runtime/http.ts';
import type { Explorer } from '../../src/server/server.ts';
import { listen, type Running } from './listen.ts';
import type { HeaderOf, Identify } from './people.ts';
import { headersFor, type Secrets } from './subgraph-headers.ts';

/**
 * The gateways of the example: Hive Gateway with the configuration of `deploy/router/`, which a platform team copies. There is
 * no edge before them that would overwrite `x-client-ip` and its like.
 */

interface HiveOptions {
  /** Says who asks. Whoever it does not know gets 401, whatever they ask and however they send it. */
  readonly identify: Identify;
  readonly secrets: Secrets;
  /** Port 0, the default, picks a free one. */
  readonly port?: number;
  /** The one origin whose pages may ask, besides the gateway's own. */
  readonly pageOrigin?: string;
  /** For development: pages of every port of this machine may ask as well, and Apollo Sandbox. */
  readonly isDevelopment?: boolean;
  /** The pages that it serves beside the graph, for engineers. */
  readonly explorer?: Explorer;
}

export async function startHiveGateway(supergraphSdl: string, options: HiveOptions): Promise<Running> {
  const { identify, secrets, port = 0, pageOrigin, isDevelopment, explorer } = options;
  const gatewayConfig = configFor(secrets['device-trust']);
  const gateway = createGatewayRuntime<SignedIn>({
    ...gatewayConfig,
    supergraph: supergraphSdl,
    logging: false,
    // Always set, because by default the gateway allows every origin, with credentials. Any header is allowed.
    cors: ({ headers }) => {
      const asked = headers.get('origin') ?? '';
      const origin = isDevelopment && DEVELOPMENT_ORIGIN.test(asked) ? asked : pageOrigin;
      return origin !== undefined && { origin, methods: ['POST'], credentials: false, maxAge: 600 };
    },
    propagateHeaders: {
      // The delivered rule is for device-trust. The other subgraphs get to know who asks as well.
      fromClientToSubgraphs: (propagation) =>
        propagation.subgraphName === 'device-trust'
          ? gatewayConfig.propagateHeaders.fromClientToSubgraphs(propagation)
          : headersFor(secrets, propagation.subgraphName, identify(headersOf(propagation.request))),
    },
    plugins: () => [...gatewayConfig.plugins(), signedInOnly(identify, explorer), signedIn(identify)],
    landingPage: false,
    graphiql: false,
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

/** Puts into the context who asks, as the option `jwt` does once it has verified a token. */
function signedIn(identify: Identify): GatewayPlugin {
  return {
    onContextBuilding({ context, extendContext }) {
      const person = identify(headersOf(context.request));
      if (person) extendContext({ jwt: { payload: { sub: person.id, scope: person.scopes } } });
    },
  };
}

/**
 * Answers questions only to somebody who is signed in. The delivered configuration refuses what a page of any origin can send.
 *
 * @param explorer answers a browser that is opened at one of its paths
 */
function signedInOnly(identify: Identify, explorer?: Explorer): GatewayPlugin {
  return {
    async onRequest({ request: { method, headers }, url, fetchAPI, endResponse }) {
      const render = method === 'GET' && headers.get('accept')?.includes('text/html') && explorer?.get(url.pathname);
      // The pages hold sessions, so no name may lead here that can be of another site.
      if (render && url.hostname === '127.0.0.1') {
        const page = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
        return endResponse(new fetchAPI.Response(await render(), { headers: page }));
      }
      // A preflight asks nothing.
      if (method === 'OPTIONS' || identify(headersOf({ headers }))) return;
      const errors = [{ message: 'Sign in to ask.', extensions: { code: 'UNAUTHENTICATED', retryable: false } }];
      endResponse(fetchAPI.Response.json({ errors }, { status: 401 }));
    },
  };
}

function headersOf({ headers }: { readonly headers: Headers }): HeaderOf {
  return (name) => headers.get(name) ?? undefined;
}
