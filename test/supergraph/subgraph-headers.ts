/** What the gateways of the example send to each subgraph. */

/** Proves to the device-trust subgraph that the router asks. Nobody else gets it. */
export const ROUTER_SECRET = 'the-router-secret-of-the-example-supergraph';

/** What a person may see, and what the edge has measured about the client. */
const FOR_DEVICE_TRUST = ['x-user-scopes', 'x-client-ip', 'x-ja4'];

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
  return { ...person, ...Object.fromEntries(passedOn), 'router-authorization': ROUTER_SECRET };
}
