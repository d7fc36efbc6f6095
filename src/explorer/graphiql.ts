import { FINGERPRINT_EXAMPLE } from './examples.ts';

/** The path of GraphiQL, which needs nothing from the internet. */
export const GRAPHIQL_PATH = '/graphiql';

/**
 * The HTML of GraphiQL, with an operation that works in the sandbox. The page has several megabytes, so its package is
 * loaded at the first call.
 *
 * @param endpoint path of the GraphQL endpoint
 * @throws if the package is not installed, as in a production image
 */
export async function renderGraphiql(endpoint: string): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const { document, variables } = FINGERPRINT_EXAMPLE;
  // The package passes `query` and `variables` on to GraphiQL, though its types do not have them. They do have
  // `defaultTabs`, which leaves the variables empty.
  const options = { endpoint, title: 'Device trust', query: document, variables: JSON.stringify(variables, null, 2) };
  return renderGraphiQL(options);
}
