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

/** What the edge has measured about the client. */
const FOR_DEVICE_TRUST = ['x-client-ip', 'x-ja4'];

/**
 * The headers for this subgraph, on behalf of this person, or of nobody where the router itself asks.
 *
 * @param headerOf a header of the request that the gateway received
 */
export function subgraphHeaders(
  subgraph: string,
  userId?: string,
  headerOf: (name: string) => string | undefined = () => undefined,
): Record<string, string> {
  const person = userId === undefined ? {} : { 'x-user-id': userId };
  if (subgraph !== 'device-trust') return person;
  const passedOn = FOR_DEVICE_TRUST.flatMap((name) => {
    const value = headerOf(name);
    return value === undefined ? [] : [[name, value]];
  });
  // Who has no scopes of its own may see everything here, because this example has no login.
  const scopes = headerOf('x-user-scopes') ?? 'risk:read';
  return {
    ...person,
    ...Object.fromEntries(passedOn),
    'x-user-scopes': scopes,
    'router-authorization': ROUTER_SECRET,
  };
}
