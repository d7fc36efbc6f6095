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
import { DeviceTrustError, framesOf } from '../errors.ts';
import { apolloSandboxPage } from '../explorer/landing-page.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { type CompiledOperations, createCompiledOperations } from '../graphql/document-cache.ts';
import { formatError, inOrder, reportErrors } from '../graphql/errors.ts';
import { checkVariables } from '../graphql/variables.ts';
import { createFastPath, type FastPath } from './fast-path.ts';
import { type DocumentLimits, documentLimits } from './limits.ts';
import { tellOfResult } from './operation-log.ts';

/** Checks before the execution what graphql-js would only find during it, or refuse in words that quote the caller. */
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

/** Notes how an operation ended, logs those of its errors that concern an operator, and shows each valid document to the compiler. */
function tellOfOperations(log: Logger, operations: CompiledOperations): ApolloServerPlugin<GraphQLContext> {
  return {
    async requestDidStart({ contextValue: { operation } }) {
      return {
        async didResolveOperation({ operationName, source, document, operation: resolved }) {
          operation.name = operationName ?? undefined;
          if (resolved) operations.learn(source, document);
        },
        async didEncounterErrors({ errors }) {
          reportErrors(log, operation.requestId, errors);
        },
        async willSendResponse({ response: { body } }) {
          if (body.kind !== 'single') return;
          const { singleResult } = body;
          if (singleResult.errors) singleResult.errors = inOrder(singleResult.errors);
          tellOfResult(operation, singleResult);
        },
      };
    },
    async unexpectedErrorProcessingRequest({ requestContext, error }) {
      reportErrors(log, requestContext.contextValue.operation.requestId, [error]);
    },
  };
}

interface Options {
  /** Introspection and a landing page: for people at a desk, never in live mode. */
  readonly explorable: boolean;
  /** Inline traces (ftv1) for whoever asks for one: how the work is done, and how long it takes. For a router alone. */
  readonly traceable: boolean;
  /** How much one document may ask. */
  readonly limits: DocumentLimits & { readonly tokens: number };
}

/** What answers GraphQL: Apollo Server anything, the fast path what it has compiled. */
export interface GraphqlEngine {
  readonly apollo: ApolloServer<GraphQLContext>;
  readonly fastPath: FastPath;
}

/** Starts Apollo Server on a schema: no batches, no persisted queries, no stack traces, nothing told to Apollo. */
export async function startEngine(
  schema: GraphQLSchema,
  log: Logger,
  { explorable, traceable, limits }: Options,
): Promise<GraphqlEngine> {
  const operations = createCompiledOperations(schema, (error) => {
    log.warn({ error: framesOf(error) }, 'the compiler of operations could not be loaded; they go the slow way');
  });
  const apollo = new ApolloServer<GraphQLContext>({
    schema,
    // By a rule instead of `introspection: false`, whose refusal explains how this server is configured.
    introspection: true,
    parseOptions: { maxTokens: limits.tokens },
    validationRules: [...documentLimits(limits), ...(explorable ? [] : [NoSchemaIntrospectionCustomRule])],
    hideSchemaDetailsFromClientErrors: !explorable,
    includeStacktraceInErrorResponses: false,
    formatError,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    logger: quiet(log),
    plugins: [
      checkOperation,
      tellOfOperations(log, operations),
      explorable ? apolloSandboxPage() : ApolloServerPluginLandingPageDisabled(),
      // The server sends `no-store` on everything: these answers are personal, and each is an event upstream.
      ApolloServerPluginCacheControlDisabled(),
      traceable ? await inlineTraces() : ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  await apollo.start();
  return { apollo, fastPath: createFastPath(operations) };
}

/** Loaded only where it serves: it brings a protobuf encoder along. Its default leaves the messages of errors out. */
async function inlineTraces(): Promise<ApolloServerPlugin<GraphQLContext>> {
  const { ApolloServerPluginInlineTrace } = await import('@apollo/server/plugin/inlineTrace');
  return ApolloServerPluginInlineTrace();
}

/** Apollo Server puts messages of errors into its log lines, and those may quote a caller; only that there was one is kept. */
function quiet(log: Logger) {
  const said = () => log.debug('Apollo Server reported a problem');
  return { debug: () => {}, info: () => {}, warn: said, error: said };
}
