import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import {
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type ValidationContext,
} from 'graphql';
import type { Logger } from 'pino';
import type { RequestContext } from '../graphql/context.ts';
import { MAX_TOKENS } from '../graphql/documents.ts';
import { formatError, RememberExpectationsRule, reportErrors } from '../graphql/errors.ts';
import type { Execution } from '../graphql/execution.ts';

interface Options {
  readonly log: Logger;
  readonly execution: Execution;
  readonly allowsIntrospection: boolean;
  /** May a caller request inline traces (ftv1)? They reveal how requests are resolved. */
  readonly inlineTraces: boolean;
  readonly plugins: readonly ApolloServerPlugin<RequestContext>[];
}

/** Up to this cost a trace includes the fields, at 8 µs and 36 bytes each. Beyond it a trace has only the duration. */
const MAX_TRACED_COST = 2_000;

export const TRACE_HEADER = 'apollo-federation-include-trace';

/** Starts Apollo Server, which parses and validates new documents and runs plugins. It reports nothing to Apollo. */
export async function startApollo(
  schema: GraphQLSchema,
  { log, execution, allowsIntrospection, inlineTraces, plugins }: Options,
): Promise<ApolloServer<RequestContext>> {
  const apollo = new ApolloServer<RequestContext>({
    schema,
    // `execution` caches the valid documents.
    documentStore: null,
    // A rule forbids introspection instead: the message of `introspection: false` reveals how this server is configured.
    introspection: true,
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: [
      KnownOperationTypesRule,
      RememberExpectationsRule,
      ...(allowsIntrospection ? [] : [NoSchemaIntrospectionCustomRule]),
    ],
    hideSchemaDetailsFromClientErrors: !allowsIntrospection,
    includeStacktraceInErrorResponses: false,
    formatError,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    logger: withoutMessages(log),
    plugins: [
      answerOperations(execution, plugins.length > 0),
      ...plugins,
      // Loaded only if it is used, because the plugin imports a protobuf encoder. By default it leaves out error messages.
      inlineTraces
        ? (await import('@apollo/server/plugin/inlineTrace')).ApolloServerPluginInlineTrace()
        : ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      // The server sends `no-store` with everything: these responses are personal, and each is an event upstream.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  await apollo.start();
  return apollo;
}

/** Answers operations with `execution`. Apollo Server executes those with a trace of fields, or with a company's plugins. */
function answerOperations(execution: Execution, hasPlugins: boolean): ApolloServerPlugin<RequestContext> {
  return {
    async requestDidStart() {
      return {
        async responseForOperation({ document, operation, request, contextValue, response: { http } }) {
          // The request names no operation of the document. Apollo Server answers with the error itself.
          if (!operation) return null;
          const known = execution.add(document, operation);
          const variables = request.variables ?? {};
          const refusal = execution.check({ known, name: operation.name?.value }, variables, contextValue);
          const isTraced = request.http?.headers.has(TRACE_HEADER) && contextValue.cost.spent <= MAX_TRACED_COST;
          if (!refusal && (hasPlugins || isTraced)) return null;
          const { status, result } = refusal ?? (await execution.execute(known, variables, contextValue));
          return { http: { status, headers: http.headers }, body: { kind: 'single', singleResult: result } };
        },
        async didEncounterErrors({ errors, contextValue: { operation } }) {
          reportErrors(operation, errors);
        },
      };
    },
    async unexpectedErrorProcessingRequest({ requestContext, error }) {
      reportErrors(requestContext.contextValue.operation, [error]);
    },
  };
}

/** graphql-js accepts an operation type that the schema lacks, and fails when it executes the operation. */
function KnownOperationTypesRule(context: ValidationContext) {
  return {
    OperationDefinition(node: OperationDefinitionNode) {
      if (context.getSchema().getRootType(node.operation)) return;
      context.reportError(new GraphQLError(`The schema has no ${node.operation}.`, { nodes: node }));
    },
  };
}

/** Apollo Server's log lines contain error messages, which may quote a caller, so only the fact of a problem is logged. */
function withoutMessages(log: Logger) {
  const report = () => log.debug('Apollo Server reported a problem');
  return { debug: () => {}, info: () => {}, warn: report, error: report };
}
