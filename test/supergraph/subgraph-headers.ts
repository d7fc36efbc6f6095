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

/** Reads a header of the request that a gateway received. */
export type HeaderOf = (name: string) => string | undefined;

/** Who is signed in at a gateway. */
export interface Person {
  readonly id: string;
  /** What this person may see, separated by blanks; empty for nothing that needs a scope. */
  readonly scopes: string;
}

/** What the edge has measured about the client. */
const FOR_DEVICE_TRUST = ['x-client-ip', 'x-ja4'];

/**
 * The headers for this subgraph, on behalf of this person, or of nobody where the router itself asks. No header of the
 * client's own says who asks or what they may see.
 *
 * @param headerOf a header of the request that the gateway received
 */
export function subgraphHeaders(
  subgraph: string,
  person?: Person,
  headerOf: HeaderOf = () => undefined,
): Record<string, string> {
  const named = person ? { 'x-user-id': person.id, 'x-user-scopes': person.scopes } : {};
  if (subgraph !== 'device-trust') return named;
  const passedOn = FOR_DEVICE_TRUST.flatMap((name) => {
    const value = headerOf(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { ...named, ...Object.fromEntries(passedOn), 'router-authorization': ROUTER_SECRET };
}
