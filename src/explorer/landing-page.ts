import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import { FINGERPRINT_EXAMPLE } from './examples.ts';

/** Where GraphiQL lives; it needs nothing from the internet. */
export const GRAPHIQL_PATH = '/graphiql';

/**
 * Apollo Sandbox as the landing page, with a working operation in it. Its scripts come from Apollo's servers; where those
 * can't be reached, the page moves on to GraphiQL. The listener stands before the page's content security policy, which
 * binds only what follows it.
 */
export function apolloSandboxPage(): ApolloServerPlugin {
  const { document, variables } = FINGERPRINT_EXAMPLE;
  const apollo = ApolloServerPluginLandingPageLocalDefault({ document, variables: { ...variables }, footer: false });
  return {
    async serverWillStart(service) {
      const listener = await apollo.serverWillStart?.(service);
      const page = await listener?.renderLandingPage?.();
      const html = async () => withFallback(typeof page?.html === 'function' ? await page.html() : (page?.html ?? ''));
      return { renderLandingPage: async () => ({ html }) };
    },
  };
}

const FALLBACK = `<script>
  addEventListener('error', ({ target }) => {
    if (target instanceof HTMLScriptElement && target.src.includes('embeddable-sandbox')) location.replace('${GRAPHIQL_PATH}');
  }, true);
</script>`;

function withFallback(html: string): string {
  return html.replace('<head>', `<head>${FALLBACK}`);
}

/**
 * GraphiQL in one page of several megabytes, so it is loaded when somebody asks for it.
 *
 * @throws if the package is not installed, as in a production image
 */
export async function renderGraphiql(endpoint: string): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const { document, variables } = FINGERPRINT_EXAMPLE;
  // `query` and `variables` go through to GraphiQL, though the package's types do not name them: its `defaultTabs`, which
  // they do name, leaves the variables empty.
  const options = { endpoint, title: 'Device trust', query: document, variables: JSON.stringify(variables, null, 2) };
  return renderGraphiQL(options);
}
