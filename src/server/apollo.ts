import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { type DocumentNode, type GraphQLSchema, NoSchemaIntrospectionCustomRule, specifiedRules } from 'graphql';
import type { Logger } from 'pino';
import { DeviceTrustError } from '../errors.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { type CostLimits, checkCost, costOf } from '../graphql/cost.ts';
import type { DocumentCache } from '../graphql/document-cache.ts';
import { formatError, inOrder, reportErrors } from '../graphql/errors.ts';
import { ANY_NAME } from '../graphql/invalid-documents.ts';
import { kindOf } from '../graphql/operation-kind.ts';
import { parseValid } from '../graphql/valid-document.ts';
import { checkVariables } from '../graphql/variables.ts';
import type { AnswerWriter } from './answer.ts';
import { type DocumentLimits, documentLimits } from './limits.ts';

interface Options {
  readonly log: Logger;
  readonly documents: DocumentCache;
  /** The landing page for people in development. With one, introspection is allowed. */
  readonly landingPage: ApolloServerPlugin | undefined;
  /** Sends inline traces (ftv1) to callers that ask for one. They reveal how requests are resolved: for a router only. */
  readonly inlineTraces: boolean;
  /** Writes each answer. */
  readonly writer: AnswerWriter;
  readonly limits: DocumentLimits & CostLimits & { readonly maxTokens: number };
}

/** Starts Apollo Server on a schema: no batches, no persisted queries, no stack traces, nothing reported to Apollo. */
export async function startApollo(
  schema: GraphQLSchema,
  { log, documents, landingPage, inlineTraces, writer, limits }: Options,
): Promise<ApolloServer<GraphQLContext>> {
  const parseOptions = { maxTokens: limits.maxTokens };
  const validationRules = [...documentLimits(limits), ...(landingPage ? [] : [NoSchemaIntrospectionCustomRule])];
  const rules = [...validationRules, ...specifiedRules];
  const apollo = new ApolloServer<GraphQLContext>({
    schema,
    // A plugin provides valid documents.
    documentStore: null,
    // A rule forbids it instead, because the message of `introspection: false` reveals how this server is configured.
    introspection: true,
    parseOptions,
    validationRules,
    hideSchemaDetailsFromClientErrors: !landingPage,
    includeStacktraceInErrorResponses: false,
    formatError,
    stringifyResult: writer.write,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    logger: withoutMessages(log),
    plugins: [
      provideValidDocuments(documents, (source) => parseValid(schema, source, rules, parseOptions)),
      checkOperations(limits),
      recordOperations(log),
      rememberInvalidDocuments(documents),
      landingPage ?? ApolloServerPluginLandingPageDisabled(),
      // The server sends `no-store` with everything: these responses are personal, and each is an event upstream.
      ApolloServerPluginCacheControlDisabled(),
      inlineTraces ? await inlineTracePlugin() : ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  await apollo.start();
  return apollo;
}

/**
 * Provides each document that is valid. Apollo Server parses and validates only a request without a document, so what is left
 * to it are the errors of documents that are not valid.
 */
function provideValidDocuments(
  documents: DocumentCache,
  parseIfValid: (source: string) => DocumentNode | undefined,
): ApolloServerPlugin<GraphQLContext> {
  return {
    async requestDidStart() {
      return {
        async didResolveSource(requestContext) {
          const { source } = requestContext;
          let document = documents.findValid(source);
          if (!document) {
            document = parseIfValid(source);
            if (document) documents.addValid(document);
          }
          if (document) Object.assign(requestContext, { document });
        },
      };
    },
  };
}

/** Checks before the execution what graphql-js finds only during it, or refuses with a message that quotes the caller. */
function checkOperations(limits: CostLimits): ApolloServerPlugin<GraphQLContext> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ schema, document, operation, request, contextValue }) {
          if (!operation) return;
          // graphql-js takes an operation of a kind that the schema does not have for valid, and fails when it executes it.
          if (!schema.getRootType(operation.operation)) throw new DeviceTrustError('BAD_REQUEST', { status: 400 });
          const variables = request.variables ?? {};
          // The cost comes first: it is cheap for any number of values, and what it lets through is cheap to check.
          const cost = costOf(schema, document, operation);
          checkCost(cost, variables, limits);
          // The lists of entities may turn out longer than assumed, and then count together with the other fields. Compiled
          // code needs no such line, because it executes `_entities` only where there is no other field.
          contextValue.countCost(cost.others);
          checkVariables(schema, operation, variables);
        },
      };
    },
  };
}

/** Keeps the responses to documents that are refused whatever their variables are, as they are the same every time. */
function rememberInvalidDocuments(documents: DocumentCache): ApolloServerPlugin<GraphQLContext> {
  return {
    async requestDidStart() {
      let isInvalid = false;
      return {
        async parsingDidStart() {
          return async (error) => {
            isInvalid = error !== undefined;
          };
        },
        async validationDidStart() {
          return async (errors) => {
            isInvalid = errors !== undefined;
          };
        },
        async willSendResponse({ source, request, document, operation, response: { body, http } }) {
          // Without an operation, the document has none of this name, or several and the request names none.
          const isOtherName = document !== undefined && !operation;
          if (!(isInvalid || isOtherName) || source === undefined || body.kind !== 'single') return;
          // Only the errors are kept, because a trace in the response belongs to this one request.
          const { errors = [] } = body.singleResult;
          const refusedFor = isInvalid ? ANY_NAME : (request.operationName ?? undefined);
          documents.invalid.add(source, refusedFor, { status: http.status ?? 200, errors });
        },
      };
    },
  };
}

/** Records the kind and the result of each operation, and logs those of its errors that concern an operator. */
function recordOperations(log: Logger): ApolloServerPlugin<GraphQLContext> {
  return {
    async requestDidStart({ contextValue: { recorder } }) {
      return {
        async didResolveOperation({ document, operation }) {
          if (operation) recorder.recordKind(kindOf(document, operation));
        },
        async didEncounterErrors({ errors }) {
          reportErrors(log, recorder, errors);
        },
        async willSendResponse({ response: { body } }) {
          if (body.kind !== 'single') return;
          const { singleResult } = body;
          if (singleResult.errors) singleResult.errors = inOrder(singleResult.errors);
          recorder.recordResult(singleResult);
        },
      };
    },
    async unexpectedErrorProcessingRequest({ requestContext, error }) {
      reportErrors(log, requestContext.contextValue.recorder, [error]);
    },
  };
}

/** Loaded only where it is used, because it brings a protobuf encoder along. By default it leaves out error messages. */
async function inlineTracePlugin(): Promise<ApolloServerPlugin<GraphQLContext>> {
  const { ApolloServerPluginInlineTrace } = await import('@apollo/server/plugin/inlineTrace');
  return ApolloServerPluginInlineTrace();
}

/** Apollo Server's log lines contain error messages, which may quote a caller: only the fact is logged. */
function withoutMessages(log: Logger) {
  const report = () => log.debug('Apollo Server reported a problem');
  return { debug: () => {}, info: () => {}, warn: report, error: report };
}
