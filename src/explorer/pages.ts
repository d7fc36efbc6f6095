import { type Example, exampleCommands, operationsWith } from './examples.ts';

export { exampleCommands };

/** The path of GraphiQL, which needs nothing from the internet. */
export const GRAPHIQL_PATH = '/graphiql';

/** The pages of sandbox mode by their paths. Each time that a page is opened, the sandbox issues challenges for it. */
export function createPages(graphqlPath: string, challengeUrl: string, services: readonly string[]) {
  const issueChallenge = async () => (await fetch(challengeUrl, { method: 'POST' })).json();
  const operations = () => operationsWith(issueChallenge, services);
  return new Map([
    [graphqlPath, async () => renderApolloSandbox(await operations())],
    [GRAPHIQL_PATH, async () => renderGraphiql(graphqlPath, await operations())],
  ]);
}

/** Apollo Sandbox. It opens with one tab, so one document has all operations. Without internet, GraphiQL opens instead. */
export function renderApolloSandbox(operations: readonly Example[]): string {
  const document = operations.map((operation) => operation.document).join('\n\n');
  const variables = Object.assign({}, ...operations.map((operation) => operation.variables));
  const initialState = { document, variables, headers: operations[0]?.headers };
  const options = JSON.stringify({ target: '#sandbox', initialState, endpointIsEditable: false });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Device trust</title>
    <style>
      body { display: flex; flex-direction: column; height: 100vh; margin: 0; font: 0.875rem sans-serif; }
      p { margin: 0.5rem; }
      #sandbox { flex: 1; }
      iframe { width: 100%; height: 100%; border: none; }
    </style>
  </head>
  <body>
    <p>Apollo Sandbox comes from the internet. <a href="${GRAPHIQL_PATH}">GraphiQL</a> has the same operations and needs none.</p>
    <div id="sandbox"></div>
    <script src="https://embeddable-sandbox.cdn.apollographql.com/v2/embeddable-sandbox.umd.production.min.js"
      onerror="location.replace('${GRAPHIQL_PATH}')"></script>
    <script>new EmbeddedSandbox({ ...${options.replaceAll('<', '\\u003c')}, initialEndpoint: location.href });</script>
  </body>
</html>`;
}

/** GraphiQL with a tab for each operation. The first call loads its large package. @throws if the package is not installed */
export async function renderGraphiql(endpoint: string, operations: readonly Example[]): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const json = (values: object) => JSON.stringify(values, null, 2);
  const tabs = operations.map(({ document, variables, headers }) => ({
    query: document,
    variables: json(variables),
    ...(headers && { headers: json(headers) }),
  }));
  // Without `query` and `variables`, which the types of the package lack, the first tab would have no variables.
  const options = { endpoint, title: 'Device trust', ...tabs[0], defaultTabs: tabs };
  // The head begins with our elements, because a content security policy in the page applies only to elements after it.
  return renderGraphiQL(options).replace('<head>', () => `<head>${STEADY_TABS}${refreshScript(tabs)}`);
}

/** If its font loads late, GraphiQL moves a tab away from under the mouse during the first click, and the click is lost. */
const STEADY_TABS = '<style>.graphiql-tab { transform: none !important; }</style>';

/** Gives the tabs of the last visit fresh challenges before GraphiQL restores them. `tabs` contain no `<`. */
function refreshScript(tabs: readonly { query: string; variables: string; headers?: string }[]): string {
  return `<script>
  try {
    const fresh = ${JSON.stringify(tabs)};
    const stored = JSON.parse(localStorage.getItem('graphiql:tabState'));
    for (const tab of stored.tabs)
      for (const { query, variables, headers } of fresh)
        if (new RegExp('^(query|mutation) ' + tab.operationName + '\\\\b', 'm').test(query)) {
          if (variables.includes('lotNumber')) tab.variables = variables;
          if (headers) tab.headers = headers;
        }
    localStorage.setItem('graphiql:tabState', JSON.stringify(stored));
  } catch {
    // Nothing usable is stored.
  }
</script>`;
}
