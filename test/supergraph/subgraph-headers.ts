/** What the gateways of the example send to each subgraph. */

/** Proves to the device-trust subgraph that the router asks. Nobody else gets it. */
export const ROUTER_SECRET = 'the-router-secret-of-the-example-supergraph';

/** The secret with which the order subgraph asks the device-trust subgraph, and what it may see there. */
export const ORDERS_SERVICE = {
  name: 'orders',
  secret: 'the-secret-of-the-order-subgraph-of-the-example',
  scopes: ['risk:read'],
} as const;

/** The headers in which the gateways and the order subgraph say who asks, and what this person may see. */
export const TRUSTED_HEADERS = { subject: 'x-user-id', scopes: 'x-user-scopes' } as const;

/** The headers for this subgraph, on behalf of this person, or of nobody where the router itself asks. */
export function subgraphHeaders(subgraph: string, userId?: string): Record<string, string> {
  return {
    ...(userId !== undefined && { 'x-user-id': userId }),
    ...(subgraph === 'device-trust' && { 'router-authorization': ROUTER_SECRET, 'x-user-scopes': 'risk:read' }),
  };
}
