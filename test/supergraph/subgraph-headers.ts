/** What the gateways of the example send to each subgraph. */

/** Proves to the device-trust subgraph that the router asks. Nobody else gets it. */
export const ROUTER_SECRET = 'the-router-secret-of-the-example-supergraph';

/** The headers for this subgraph, on behalf of this person, or of nobody where the router itself asks. */
export function subgraphHeaders(subgraph: string, userId?: string): Record<string, string> {
  return {
    ...(userId !== undefined && { 'x-user-id': userId }),
    ...(subgraph === 'device-trust' && { 'router-authorization': ROUTER_SECRET }),
  };
}
