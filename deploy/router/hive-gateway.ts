// Hive Gateway 2: the settings for this subgraph. Save it as gateway.config.ts, or merge it into yours, and set ROUTER_SECRET in
// the environment. README.md in this folder explains each block. It also runs with `--hive-router-runtime`, the planner in Rust.
import { randomUUID } from 'node:crypto';
import type { GatewayConfigSupergraph, GatewayPlugin } from '@graphql-hive/gateway-runtime';
import { GraphQLError } from 'graphql';

/** What the option `jwt` of Hive Gateway puts into the context once it has verified a token. */
export interface SignedIn {
  readonly jwt?: { readonly payload: { readonly sub?: string; readonly scope?: string } };
}

/** Ids of requests. The gateway's own `requestId` would take the one that a client sends. */
const ids = new WeakMap<Request, string>();
const requestIds: GatewayPlugin = {
  onRequest({ request, serverContext }) {
    const requestId = randomUUID();
    ids.set(request, requestId);
    serverContext.log = serverContext.log.child({ requestId });
  },
};

/**
 * Refuses a GET, and a POST that is a form or plain text: a page of any site can send these without a preflight, and each would be
 * an event, or even an order. The gateway's own `csrfPrevention` asks for a header with JSON, too.
 */
const csrfPrevention: GatewayPlugin = {
  onRequestParse({ request: { headers } }) {
    if (/^application\/json *(;|$)/i.test(headers.get('content-type') ?? '')) return;
    if (headers.has('apollo-require-preflight')) return;
    const extensions = { code: 'BAD_REQUEST', retryable: false, http: { status: 403 } };
    throw new GraphQLError('Send JSON, or the header apollo-require-preflight.', { extensions });
  },
};

/** After a time-out the gateway would send the client its request to the subgraph: the address, the query and all variables. */
const hideRequests: GatewayPlugin = {
  onResultProcess({ result }) {
    for (const one of [result].flat())
      for (const { extensions } of 'errors' in one ? (one.errors ?? []) : []) {
        delete extensions['request'];
        delete extensions['response'];
      }
  },
};

/** @param secret one of the subgraph's ROUTER_SECRETS */
export function configFor(secret: string | undefined) {
  return {
    requestId: false,
    plugins: () => {
      // When the gateway starts, and not at its first request.
      if (!secret) throw new Error('ROUTER_SECRET is not set: device-trust would answer 401 to every request.');
      return [csrfPrevention, requestIds, hideRequests];
    },
    // By default every site may read answers, with credentials. Name your own: `{ origin: ['https://…'], credentials: false }`.
    cors: false,

    propagateHeaders: {
      fromClientToSubgraphs: ({ request, context, subgraphName }) => {
        // Claims of a JWT that the gateway has verified. Without one there is no person, and there are no scopes.
        const person = { 'x-user-id': context.jwt?.payload.sub, 'x-user-scopes': context.jwt?.payload.scope };
        // A service that verifies attestations needs the person. Name each such subgraph, and give each its own secret, so that it
        // trusts only the gateway.
        if (subgraphName === 'orders') return person;
        // Your rules for other subgraphs belong here. No header of a client reaches a subgraph unless it is named.
        if (subgraphName !== 'device-trust') return {};
        const fromEdge = (name: string) => request.headers.get(name) ?? undefined;
        return {
          'router-authorization': secret,
          'x-request-id': ids.get(request),
          ...person,
          // The edge's data about the client. The edge must overwrite these headers, because a client can send them too.
          'x-client-ip': fromEdge('x-client-ip'),
          'x-client-user-agent': fromEdge('x-client-user-agent'),
          'x-ja4': fromEdge('x-ja4'),
          // Names in the log, as the client gives them.
          'apollographql-client-name': fromEdge('apollographql-client-name'),
          'apollographql-client-version': fromEdge('apollographql-client-version'),
        };
      },
    },

    // ON by default for each subgraph. Two people's requests must never share an answer, and each judgement is an event of its
    // own. The second kind merges equal requests of clients; it is off by default, and there is no exception for a subgraph.
    transportEntries: { 'device-trust': { options: { deduplicateInflightRequests: false } } },
    inboundInflightRequestDeduplication: false,

    // Longer than FINGERPRINT_TIMEOUT_MS, CAPTCHA_TIMEOUT_MS and 1.5 s together, so that the subgraph can say which service was late.
    upstreamTimeout: ({ subgraphName }) => (subgraphName === 'device-trust' ? 10_000 : undefined),
    // Off by default. If you need it for another subgraph, let it be a function that returns undefined for `device-trust`.
    upstreamRetry: () => undefined,

    // The codes and `retryable` of our errors reach clients as they are. Without this, every error of a subgraph gets its name.
    subgraphErrors: { subgraphNameProp: false },
    maskedErrors: true,

    // Off by default: a client's disconnection ends its request and the calls made for it.
    executionCancellation: true,
    upstreamCancellation: true,

    // Batches of operations are refused by the subgraph. This is the default.
    batching: false,

    // For the gateway as a whole.
    maxTokens: 2_000,
    maxDepth: 15,
    // It has no mode that only measures: try it with `includeExtensionMetadata: true` and without `maxCost` first. The figures of
    // README.md in this folder are for comparison.
    demandControl: {
      // For lists without `@listSize`.
      listSize: 10,
      maxCost: 1_000,
      includeExtensionMetadata: false,
    },
  } satisfies Partial<GatewayConfigSupergraph<SignedIn>> & { maxTokens: number; maxDepth: number };
}

export const gatewayConfig = configFor(process.env['ROUTER_SECRET']);
