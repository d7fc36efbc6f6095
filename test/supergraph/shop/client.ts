import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';

/** How long the page waits for the gateway, in ms: longer than the subgraph's own deadlines (3 s and 5 s). */
const TIMEOUT_MS = 10_000;

/** A client of the supergraph at this address. */
export function createClient(gatewayUrl: string): ApolloClient {
  return new ApolloClient({
    link: new HttpLink({
      uri: gatewayUrl,
      credentials: 'omit',
      fetch: (url, init) => {
        const ended = new AbortController(); // `AbortSignal.any` needs Safari 17.4
        for (const signal of [AbortSignal.timeout(TIMEOUT_MS), init?.signal])
          signal?.addEventListener('abort', () => ended.abort(signal.reason));
        return fetch(url, { ...init, signal: ended.signal });
      },
    }),
    cache: new InMemoryCache({
      // Without these the client warns in development that it may lose data, because it cannot tell the types apart.
      possibleTypes: {
        CaptchaValidation: ['CaptchaPassed', 'CaptchaFailed', 'CaptchaIndeterminate'],
        PlaceOrderResult: ['OrderPlaced', 'ChallengeRequired', 'OrderRefused'],
      },
    }),
    // Each answer is an event of its own, so none may stand in for the next one; and it is about a person's device, so
    // none may stay behind in the cache. `network-only` would ask anew but keep what it heard.
    defaultOptions: { query: { fetchPolicy: 'no-cache' }, mutate: { fetchPolicy: 'no-cache' } },
  });
}
