import { CAPTCHA_OPERATION, type IssueChallenge, operationsWith } from './examples.ts';

/** The path of GraphiQL, which needs nothing from the internet. */
export const GRAPHIQL_PATH = '/graphiql';

/**
 * The HTML of GraphiQL, with a tab for each operation that works in the sandbox. The page has several megabytes, so its
 * package is loaded at the first call.
 *
 * @param endpoint path of the GraphQL endpoint
 * @throws if the package is not installed, as in a production image
 */
export async function renderGraphiql(endpoint: string, issueChallenge: IssueChallenge): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const operations = await operationsWith(issueChallenge);
  const tabs = operations.map(({ document, variables }) => ({
    query: document,
    variables: JSON.stringify(variables, null, 2),
  }));
  // The tabs alone would leave the variables of the first one empty. The package passes `query` and `variables` on to
  // GraphiQL, though its types do not have them.
  const options = { endpoint, title: 'Device trust', ...tabs[0], defaultTabs: tabs };
  const html = renderGraphiQL(options);
  return html.replace('<head>', () => `<head>${refreshScript(tabs.at(-1)?.variables ?? '')}`);
}

/**
 * A script that runs before GraphiQL restores the tabs of the last visit. A challenge can be verified once, so the tab of the
 * captcha gets the new one.
 *
 * @param variables of the captcha's operation, as JSON. It has no `<`, because the sandbox's challenges have none.
 */
function refreshScript(variables: string): string {
  return `<script>
  try {
    const stored = JSON.parse(localStorage.getItem('graphiql:tabState'));
    for (const tab of stored.tabs) if (tab.operationName === '${CAPTCHA_OPERATION}') tab.variables = ${JSON.stringify(variables)};
    localStorage.setItem('graphiql:tabState', JSON.stringify(stored));
  } catch {
    // There was no visit before, or it left something else.
  }
</script>`;
}
