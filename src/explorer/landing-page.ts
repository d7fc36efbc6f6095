import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import { FINGERPRINT_EXAMPLE } from './examples.ts';
import { GRAPHIQL_PATH } from './graphiql.ts';

/**
 * Apollo Sandbox as the landing page, with an operation that works in the sandbox. Its scripts come from Apollo's servers; a
 * browser that cannot load them is sent to GraphiQL.
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

const FALLBACK_SCRIPT = `<script>
  addEventListener('error', ({ target }) => {
    if (target instanceof HTMLScriptElement && target.src.includes('embeddable-sandbox')) location.replace('${GRAPHIQL_PATH}');
  }, true);
</script>`;

/** Adds the script at the beginning: the page's content security policy applies only to what follows that. */
function withFallback(html: string): string {
  return html.replace('<head>', `<head>${FALLBACK_SCRIPT}`);
}
