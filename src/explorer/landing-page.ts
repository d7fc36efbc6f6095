import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import { type IssueChallenge, operationsWith } from './examples.ts';
import { GRAPHIQL_PATH } from './graphiql.ts';

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
        const listener = await apollo.serverWillStart?.(service);
        const page = await listener?.renderLandingPage?.();
        return withFallback(typeof page?.html === 'function' ? await page.html() : (page?.html ?? ''));
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

/** Adds the script at the beginning: the page's content security policy applies only to what follows that. */
function withFallback(html: string): string {
  return html.replace('<head>', `<head>${FALLBACK_SCRIPT}`);
}
