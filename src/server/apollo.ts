import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { type GraphQLSchema, NoSchemaIntrospectionCustomRule } from 'graphql';
import type { Logger } from 'pino';
import { DeviceTrustError } from '../errors.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { createErrorFormatter } from '../graphql/errors.ts';
import { checkVariables } from '../graphql/variables.ts';
import { apolloSandboxPage } from './explorer.ts';

/** What graphql-js leaves for the execution, or words in a way that quotes the caller. */
const checkOperation: ApolloServerPlugin<GraphQLContext> = {
  async requestDidStart() {
    return {
      async didResolveOperation({ schema, operation, request }) {
        if (!operation) return;
        // graphql-js validates an operation of a kind that the schema does not have, and fails over it later.
        if (!schema.getRootType(operation.operation)) throw new DeviceTrustError('BAD_REQUEST', { status: 400 });
        checkVariables(schema, operation, request.variables ?? {});
      },
    };
  },
};

/**
 * Starts Apollo Server on a schema: no batches, no persisted queries, no stack traces, nothing told to Apollo.
 *
 * @param explorable Introspection and a landing page: for people at a desk, never in live mode
 */
export async function startApollo(
  schema: GraphQLSchema,
  log: Logger,
  explorable: boolean,
): Promise<ApolloServer<GraphQLContext>> {
  const apollo = new ApolloServer<GraphQLContext>({
    schema,
    // By a rule instead of `introspection: false`, whose refusal explains how this server is configured.
    introspection: true,
    validationRules: explorable ? [] : [NoSchemaIntrospectionCustomRule],
    hideSchemaDetailsFromClientErrors: !explorable,
    includeStacktraceInErrorResponses: false,
    formatError: createErrorFormatter(log),
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    logger: quiet(log),
    plugins: [
      checkOperation,
      explorable ? apolloSandboxPage() : ApolloServerPluginLandingPageDisabled(),
      // The server sends `no-store` on everything: these answers are personal, and each is an event upstream.
      ApolloServerPluginCacheControlDisabled(),
      // An inline trace answers whoever asks for it.
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  await apollo.start();
  return apollo;
}

/** Apollo Server puts messages of errors into its log lines, and those may quote a caller; only that there was one is kept. */
function quiet(log: Logger) {
  const said = (level: 'debug' | 'info' | 'warn' | 'error') => () => log[level]('Apollo Server reported a problem');
  return { debug: () => {}, info: () => {}, warn: said('warn'), error: said('error') };
}
