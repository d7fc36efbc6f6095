import { CAPTCHA_OPERATION, type IssueChallenge, operationsWith } from './examples.ts';

/** The path of GraphiQL, which needs nothing from the internet. */
export const GRAPHIQL_PATH = '/graphiql';

/**
 * The HTML of Apollo Sandbox, with every operation that works in the sandbox. It can open with one tab only, so the operations
 * are in one document, and whoever reads it runs the one under the cursor. Its script comes from Apollo's servers; a browser
 * that cannot load it is sent to GraphiQL.
 */
export async function renderApolloSandbox(issueChallenge: IssueChallenge): Promise<string> {
  const operations = await operationsWith(issueChallenge);
  const document = operations.map((operation) => operation.document).join('\n\n');
  const variables = Object.assign({}, ...operations.map((operation) => operation.variables));
  const options = JSON.stringify({
    target: '#sandbox',
    initialState: { document, variables },
    endpointIsEditable: false,
  });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Device trust</title>
    <style>
      body { margin: 0; font: 1rem sans-serif; }
      iframe { width: 100vw; height: 100vh; border: none; position: absolute; top: 0; }
    </style>
  </head>
  <body>
    <p>Apollo Sandbox is being loaded. <a href="${GRAPHIQL_PATH}">GraphiQL</a> needs no internet.</p>
    <div id="sandbox"></div>
    <script src="https://embeddable-sandbox.cdn.apollographql.com/v2/embeddable-sandbox.umd.production.min.js"
      onerror="location.replace('${GRAPHIQL_PATH}')"></script>
    <script>new EmbeddedSandbox({ ...${options.replaceAll('<', '\\u003c')}, initialEndpoint: location.href });</script>
  </body>
</html>`;
}

/**
 * The HTML of GraphiQL, with a tab for each operation that works in the sandbox. The page has several megabytes, so its
 * package is loaded at the first call.
 *
 * @param endpoint path of the GraphQL endpoint
 * @throws if the package is not installed, as in a production image
 */
export async function renderGraphiql(endpoint: string, issueChallenge: IssueChallenge): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const tabs = (await operationsWith(issueChallenge)).map(({ document, variables }) => ({
    query: document,
    variables: JSON.stringify(variables, null, 2),
  }));
  // The tabs alone would leave the variables of the first one empty. The package passes `query` and `variables` on to
  // GraphiQL, though its types do not have them.
  const options = { endpoint, title: 'Device trust', ...tabs[0], defaultTabs: tabs };
  const script = refreshScript(tabs.at(-1)?.variables ?? '');
  // At the beginning, because a content security policy of the page applies only to what follows it.
  return renderGraphiQL(options).replace('<head>', () => `<head>${script}`);
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
