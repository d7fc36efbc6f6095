import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import { CAPTCHA_OPERATION, type IssueChallenge, operationsWith } from './examples.ts';

/** The path of GraphiQL, which needs nothing from the internet. */
export const GRAPHIQL_PATH = '/graphiql';

/**
 * Apollo Sandbox as the landing page, with every operation that works in the sandbox. It can open with one tab only, so the
 * operations are in one document, and whoever reads it runs the one under the cursor. Its scripts come from Apollo's servers;
 * a browser that cannot load them is sent to GraphiQL.
 */
export function apolloSandboxPage(issueChallenge: IssueChallenge): ApolloServerPlugin {
  return {
    async serverWillStart(service) {
      const html = async () => {
        const operations = await operationsWith(issueChallenge);
        const document = operations.map((operation) => operation.document).join('\n\n');
        const variables = Object.assign({}, ...operations.map((operation) => operation.variables));
        const apollo = ApolloServerPluginLandingPageLocalDefault({ document, variables, footer: false });
        const page = await (await apollo.serverWillStart?.(service))?.renderLandingPage?.();
        return atBeginning(FALLBACK_SCRIPT, typeof page?.html === 'function' ? await page.html() : (page?.html ?? ''));
      };
      return { renderLandingPage: async () => ({ html }) };
    },
  };
}

const FALLBACK_SCRIPT = `<script>
  addEventListener('error', ({ target }) => {
    if (target instanceof HTMLScriptElement && target.src.includes('embeddable-sandbox')) location.replace('${GRAPHIQL_PATH}');
  }, true);
</script>`;

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
  return atBeginning(refreshScript(tabs.at(-1)?.variables ?? ''), renderGraphiQL(options));
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

/** The script comes first: a content security policy of the page applies only to what follows it. */
function atBeginning(script: string, html: string): string {
  return html.replace('<head>', () => `<head>${script}`);
}
