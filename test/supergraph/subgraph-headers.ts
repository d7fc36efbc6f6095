/** What the gateways of the example send to each subgraph. */

/** Proves to each subgraph that a gateway asks. Each has a secret of its own, so that none can ask another in this way. */
export const SUBGRAPH_SECRETS = {
  'device-trust': 'the-router-secret-of-the-example-supergraph',
  users: 'the-router-secret-of-the-users-of-the-example',
  orders: 'the-router-secret-of-the-orders-of-the-example',
} as const;

/** The secret with which the order subgraph asks the device-trust subgraph, and what it may see there. */
export const ORDERS_SERVICE = {
  name: 'orders',
  secret: 'the-secret-of-the-order-subgraph-of-the-example',
  scopes: ['risk:read'],
} as const;

/** The headers in which the gateways and the order subgraph say who asks, and what this person may see. */
export const TRUSTED_HEADERS = { subject: 'x-user-id', scopes: 'x-user-scopes' } as const;

/** Who is signed in at a gateway. */
export interface Person {
  readonly id: string;
  /** What this person may see, separated by blanks; empty for nothing that needs a scope. */
  readonly scopes: string;
}

/** The headers for this subgraph, on behalf of this person, or of nobody where the router itself asks. */
export function subgraphHeaders(subgraph: string, person?: Person): Record<string, string> {
  const secrets: Readonly<Record<string, string>> = SUBGRAPH_SECRETS;
  const secret = secrets[subgraph];
  if (secret === undefined) throw new Error(`expected a subgraph of the example, but got ${subgraph}`);
  return {
    'router-authorization': secret,
    ...(person && { 'x-user-id': person.id, 'x-user-scopes': person.scopes }),
  };
}
