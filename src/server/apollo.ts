import type { IncomingHttpHeaders } from 'node:http';
import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequest,
  type GraphQLRequestListener,
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
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type ValidationContext,
} from 'graphql';
import type { Logger } from 'pino';
import type { ErrorCode } from '../errors.ts';
import type { Answer, RequestContext } from '../graphql/context.ts';
import {
  DocumentCache,
  documentViolation,
  estimateParsedBytes,
  MAX_TOKENS,
  sizeOfDocument,
} from '../graphql/documents.ts';
import { formatError, RememberExpectationsRule, reportErrors, toErrors } from '../graphql/errors.ts';
import { Execution, MAX_CACHE_BYTES } from '../graphql/execution.ts';
import type { CostLimits } from '../graphql/settings.ts';
import type { Telemetry } from '../observability/operation.ts';
import { overloaded } from './http.ts';
import { ROUTER } from './settings.ts';

interface Options extends CostLimits {
  readonly telemetry: Pick<Telemetry, 'log' | 'metrics'>;
  readonly allowsIntrospection: boolean;
  /** May a caller request inline traces (ftv1)? They reveal how requests are resolved. */
  readonly inlineTraces: boolean;
  readonly plugins: readonly ApolloServerPlugin<RequestContext>[];
}

/** Up to this cost a trace includes the fields, at 8 µs and 36 bytes each. Beyond it a trace has only the duration. */
const MAX_TRACED_COST = 2_000;

const TRACE_HEADER = 'apollo-federation-include-trace';

/** Starts Apollo Server, through which every operation passes. It reports nothing to Apollo. */
export async function startApollo(schema: GraphQLSchema, options: Options) {
  const { telemetry, allowsIntrospection, inlineTraces, plugins } = options;
  const documents = new Documents();
  const apollo = new ApolloServer<RequestContext>({
    schema,
    documentStore: documents.storeFor(telemetry.metrics.recordDocument),
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
      answerOperations(documents, new Execution(schema, options), plugins.length > 0),
      ...plugins,
      inlineTraces ? await inlineTrace() : ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      // The server sends `no-store` with everything: these responses are personal, and each is an event upstream.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  await apollo.start();

  /** Answers a request with these headers. @throws RequestRefused beyond the caller's share of memory */
  async function answer(request: GraphQLRequest, headers: IncomingHttpHeaders, contextValue: RequestContext) {
    // A trace reveals how requests are resolved, so only the router gets one.
    const isTraced = headers[TRACE_HEADER] !== undefined && contextValue.caller.name === ROUTER;
    const http = isTraced || plugins.length > 0 ? { http: httpOf(headers, isTraced) } : {};
    try {
      const { http: head, body } = await apollo.executeOperation({ ...request, ...http }, { contextValue });
      // Incremental delivery, the other kind, is not enabled.
      if (body.kind !== 'single') throw new Error(`expected a complete response, but got a ${body.kind} one`);
      return { status: head.status ?? 200, result: body.singleResult };
    } catch (error) {
      const { because } = contextValue.unparsed;
      if (because === undefined || because instanceof Error) throw because ?? error;
      return because;
    }
  }

  return { answer, stop: () => apollo.stop() };
}

function httpOf(headers: IncomingHttpHeaders, isTraced: boolean) {
  const received = new HeaderMap(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  if (!isTraced) received.delete(TRACE_HEADER);
  return { method: 'POST', headers: received, search: '', body: undefined };
}

/** Apollo Server's plugin builds a tree before it looks for the header, which takes 9 µs. So only a traced request starts it. */
async function inlineTrace(): Promise<ApolloServerPlugin> {
  // Loaded only if it is used, because it imports a protobuf encoder. By default it leaves out error messages.
  const plugin = (await import('@apollo/server/plugin/inlineTrace')).ApolloServerPluginInlineTrace();
  return {
    ...plugin,
    requestDidStart: async (started) =>
      started.request.http?.headers.has(TRACE_HEADER) ? plugin.requestDidStart?.(started) : undefined,
  };
}

/** The most memory for the answers to invalid documents, in bytes. */
const MAX_INVALID_BYTES = 2 * 1024 * 1024;
/** The most memory of a character of such an answer, as JSON. */
const BYTES_PER_CHARACTER = 4;

/** What is kept of documents, by the SHA-256 that Apollo Server makes of each. */
class Documents {
  readonly #valid = new DocumentCache<string, DocumentNode>(MAX_CACHE_BYTES);
  readonly #invalid = new DocumentCache<string, Answer>(MAX_INVALID_BYTES);

  /** The valid ones, for Apollo Server, which puts the hash of the schema before the document's. */
  storeFor(record: (result: 'hit' | 'miss') => void) {
    const hashIn = (key: string) => key.slice(-64);
    return {
      get: async (key: string) => {
        const document = this.#valid.get(hashIn(key));
        record(document || this.answerTo(hashIn(key)) ? 'hit' : 'miss');
        return document;
      },
      set: async (key: string, document: DocumentNode) =>
        this.#valid.add(hashIn(key), document, sizeOfDocument(document)),
      delete: async () => false,
    };
  }

  /** The answer to a document that is known to be invalid. */
  answerTo(hash: string): Answer | undefined {
    return this.#invalid.get(hash);
  }

  keepAnswer(hash: string, answer: Answer): void {
    this.#invalid.add(hash, answer, BYTES_PER_CHARACTER * JSON.stringify(answer).length);
  }
}

/** The codes of a document that is invalid in every request. */
const INVALID = new Set<unknown>(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'] satisfies ErrorCode[]);
const NO_HEADERS = new HeaderMap();
const UNPARSED = new Error('The document is not parsed: the context has the answer.');

/**
 * Refuses documents before they are parsed, and answers operations with `execution`. Apollo Server executes those with a trace of
 * fields, or with a company's plugins, which then see the execution and each time the errors of an invalid document.
 */
function answerOperations(documents: Documents, execution: Execution, hasPlugins: boolean) {
  const listener: GraphQLRequestListener<RequestContext> = {
    parsingDidStart: async ({ source, queryHash, contextValue: { memory, unparsed } }) => {
      unparsed.because = documents.answerTo(queryHash) ?? refusalOf(source);
      if (!unparsed.because && !memory.take(estimateParsedBytes(source))) unparsed.because = overloaded();
      if (unparsed.because) throw UNPARSED;
    },
    responseForOperation: async ({ document, operation, request, contextValue }) => {
      // The request names no operation of the document. Apollo Server answers with the error itself.
      if (!operation) return null;
      const known = execution.know(document, operation);
      const variables = request.variables ?? {};
      const refusal = execution.check(known, variables, contextValue);
      const isTraced = request.http?.headers.has(TRACE_HEADER) && contextValue.cost.spent <= MAX_TRACED_COST;
      if (!refusal && (hasPlugins || isTraced)) return null;
      const { status, result } = refusal ?? (await execution.execute(known, variables, contextValue));
      return { http: { status, headers: NO_HEADERS }, body: { kind: 'single', singleResult: result } };
    },
    didEncounterErrors: async ({ errors, queryHash, contextValue: { operation } }) => {
      reportErrors(operation, errors);
      if (queryHash && !hasPlugins && INVALID.has(errors[0]?.extensions['code']))
        documents.keepAnswer(queryHash, { status: 400, result: { errors: toErrors(errors) } });
    },
  };
  const plugin: ApolloServerPlugin<RequestContext> = {
    requestDidStart: async () => listener,
    unexpectedErrorProcessingRequest: async ({ requestContext, error }) => {
      if (error !== UNPARSED) reportErrors(requestContext.contextValue.operation, [error]);
    },
  };
  return plugin;
}

function refusalOf(source: string): Answer | undefined {
  const violation = documentViolation(source);
  return violation && { status: 400, result: { errors: toErrors([violation]) } };
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
