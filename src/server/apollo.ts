import type { IncomingHttpHeaders } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequestListener,
  type GraphQLResponse,
  HeaderMap,
} from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type ValidationContext,
} from 'graphql';
import type { Logger } from 'pino';
import type { Callers } from '../callers/shares.ts';
import type { ErrorCode } from '../errors.ts';
import type { Answer, RequestContext } from '../graphql/context.ts';
import { DocumentCache } from '../graphql/document-cache.ts';
import { documentViolation, estimateParsedBytes, MAX_TOKENS } from '../graphql/documents.ts';
import { formatError, RememberExpectationsRule, reportErrors, toErrors } from '../graphql/errors.ts';
import { Execution } from '../graphql/execution.ts';
import type { CostLimits } from '../graphql/settings.ts';
import type { Telemetry } from '../observability/operation.ts';
import { overloaded } from './http.ts';

export interface ApolloOptions extends CostLimits {
  readonly callers: Callers;
  readonly telemetry: Telemetry;
  /** A company's plugins. With any, Apollo Server executes every operation, so that they see the execution. */
  readonly plugins?: readonly ApolloServerPlugin<RequestContext>[] | undefined;
}

/** Up to this cost a trace includes the fields, at 8 µs and 36 bytes each. Beyond it a trace has only the duration. */
const MAX_TRACED_COST = 2_000;

export const TRACE_HEADER = 'apollo-federation-include-trace';

/** Starts Apollo Server, through which every operation passes. It reports nothing to Apollo. */
export async function startApollo(schema: GraphQLSchema, allowsIntrospection: boolean, options: ApolloOptions) {
  const { telemetry, callers, plugins = [] } = options;
  const { documentStore, plugin } = createOperationPlugin(schema, options);
  const apollo = new ApolloServer<RequestContext>({
    schema,
    documentStore,
    // A rule forbids introspection instead: the message of `introspection: false` reveals how this server is configured.
    introspection: true,
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: [
      KnownOperationTypesRule,
      RememberExpectationsRule,
      ...(allowsIntrospection ? [] : [NoSchemaIntrospectionCustomRule]),
    ],
    validationOptions: { hideSuggestions: !allowsIntrospection },
    includeStacktraceInErrorResponses: false,
    formatError,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    logger: withoutMessages(telemetry.log),
    plugins: [
      plugin,
      ...plugins,
      callers.hasRouter ? await inlineTrace() : ApolloServerPluginInlineTraceDisabled(),
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

/** The HTTP request as plugins see it. A trace reveals how requests are resolved, so only the router gets one. */
export function httpOf(headers: IncomingHttpHeaders, isRouter: boolean) {
  const received = new HeaderMap(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  if (!isRouter) received.delete(TRACE_HEADER);
  return { method: 'POST', headers: received, search: '', body: undefined };
}

/** Only a traced request starts Apollo Server's plugin, which spends 9 µs on a tree before it looks for the header. */
async function inlineTrace(): Promise<ApolloServerPlugin> {
  // Loaded only if it is used, because it imports a protobuf encoder. By default it leaves out error messages.
  const plugin = (await import('@apollo/server/plugin/inlineTrace')).ApolloServerPluginInlineTrace();
  return {
    ...plugin,
    requestDidStart: async (started) =>
      started.request.http?.headers.has(TRACE_HEADER) ? plugin.requestDidStart?.(started) : undefined,
  };
}

/**
 * The most memory for valid documents with their code: with it a process held 77 MiB of an old heap of 256 (see deploy/capacity.md).
 * Sorting more than 256 MiB would take long.
 */
const MAX_VALID_BYTES = Math.min(getHeapStatistics().heap_size_limit / 5, 256 * 1024 * 1024);
/** The most memory for the answers to invalid documents, in bytes. */
const MAX_INVALID_BYTES = 2 * 1024 * 1024;
/** The most memory per character of such an answer as JSON. */
const BYTES_PER_CHARACTER = 4;

/** The codes of a document that is invalid in every request. */
const INVALID = new Set<unknown>(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'] satisfies ErrorCode[]);
const NO_HEADERS = new HeaderMap();

/**
 * The cache of documents, and the plugin that answers operations. Apollo Server itself executes operations with a trace of
 * fields or with a company's plugins, so that plugins see each execution, and the errors of an invalid document each time.
 */
function createOperationPlugin(schema: GraphQLSchema, options: ApolloOptions) {
  const valid = new DocumentCache<DocumentNode>(MAX_VALID_BYTES, options.callers);
  /** Separate, so that they evict no valid ones. Each is empty, because it is never parsed again. */
  const invalid = new DocumentCache<DocumentNode>(MAX_INVALID_BYTES, options.callers);
  const answers = new WeakMap<DocumentNode, Answer>();
  const execution = new Execution(schema, options, valid);
  const hasPlugins = (options.plugins?.length ?? 0) > 0;

  const documentStore = {
    get: (key: string) => {
      // Apollo Server puts the hash of the schema before the document's.
      const hash = key.slice(-64);
      const document = valid.get(hash) ?? invalid.get(hash);
      options.telemetry.metrics.recordDocument(document ? 'hit' : 'miss');
      return Promise.resolve(document);
    },
    // `execution` adds documents, because it knows whose they are.
    set: async () => {},
    delete: async () => false,
  };

  const listener: GraphQLRequestListener<RequestContext> = {
    parsingDidStart: async ({ source, contextValue: { memory } }) => {
      const violation = documentViolation(source);
      if (violation) throw violation;
      if (!memory.take(estimateParsedBytes(source))) throw overloaded();
    },
    responseForOperation: async ({ document, operation, queryHash = '', request, contextValue }) => {
      const answer = answers.get(document);
      // A copy, because plugins may add extensions.
      if (answer) return toResponse({ ...answer, result: { ...answer.result } });
      // The request names no operation of the document. Apollo Server answers with the error itself.
      if (!operation) return null;
      const known = execution.know(queryHash, document, operation, contextValue.caller);
      const variables = request.variables ?? {};
      const refusal = execution.check(known, variables, contextValue);
      if (refusal) return toResponse(refusal);
      const isTraced = request.http?.headers.has(TRACE_HEADER) && contextValue.cost.spent <= MAX_TRACED_COST;
      if (hasPlugins || isTraced) return null;
      const result = await execution.execute(known, variables, contextValue);
      return toResponse(execution.finish(known, result, contextValue));
    },
    didEncounterErrors: async ({ errors, queryHash, contextValue: { operation, caller } }) => {
      reportErrors(operation, errors);
      if (!queryHash || hasPlugins || !INVALID.has(errors[0]?.extensions['code'])) return;
      const answer = { status: 400, result: { errors: toErrors(errors) } };
      const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };
      answers.set(document, answer);
      invalid.add(queryHash, document, BYTES_PER_CHARACTER * JSON.stringify(answer).length, caller);
    },
  };
  const plugin: ApolloServerPlugin<RequestContext> = {
    requestDidStart: async () => listener,
    unexpectedErrorProcessingRequest: async ({ requestContext: { contextValue }, error }) => {
      contextValue.thrown.error = error;
    },
  };
  return { documentStore, plugin };
}

function toResponse({ status, result }: Answer): GraphQLResponse {
  return { http: { status, headers: NO_HEADERS }, body: { kind: 'single', singleResult: result } };
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
