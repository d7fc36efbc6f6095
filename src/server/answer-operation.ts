import type { IncomingMessage } from 'node:http';
import { type ApolloServer, HeaderMap } from '@apollo/server';
import type { ExecutionResult, FormattedExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import type { Caller } from '../graphql/caller.ts';
import { type Capabilities, createContext, type GraphQLContext, type OperationRecorder } from '../graphql/context.ts';
import { type CostLimits, isWithin } from '../graphql/cost.ts';
import type { DocumentCache, FoundOperation } from '../graphql/document-cache.ts';
import { formatError, inOrder, reportErrors } from '../graphql/errors.ts';
import type { AnswerWriter } from './answer.ts';
import { ROUTER } from './callers.ts';
import { negotiateContentType } from './content-type.ts';
import { errorBody, JSON_TYPE } from './http.ts';
import { refusalOfDocument } from './limits.ts';

/** What `answerOperation` works with. */
export interface AnswerOptions {
  readonly apollo: ApolloServer<GraphQLContext>;
  readonly documents: DocumentCache;
  readonly capabilities: Capabilities;
  readonly limits: CostLimits;
  readonly writer: AnswerWriter;
  readonly telemetry: { readonly log: Logger };
}

/** Asks for an inline trace in the response. */
const TRACE_HEADER = 'apollo-federation-include-trace';

type RequestHead = Pick<IncomingMessage, 'method' | 'headers'>;

interface HandlerResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Answers a request whose body has arrived: by what the document cache has for its document, or else by Apollo Server. */
export async function answerOperation(
  options: AnswerOptions,
  request: RequestHead,
  body: unknown,
  operation: OperationRecorder,
  caller: Caller,
): Promise<HandlerResponse> {
  const { documents, limits, writer } = options;
  const { headers } = request;
  const contentType = negotiateContentType(headers.accept);
  // Only Apollo Server makes traces.
  const parsed = headers[TRACE_HEADER] === undefined ? parseRequest(body) : undefined;
  if (contentType === undefined || !parsed) return answerByApollo(options, request, body, operation, caller);

  const { source, operationName, variables } = parsed;
  const found = documents.findCompiled(source, operationName);
  if (!found) {
    const invalid = documents.invalid.find(source, operationName);
    if (invalid) return toResponse(invalid.status, contentType, { errors: invalid.errors }, operation, writer);
  } else if (isWithin(found.compiled.cost, variables, limits)) {
    operation.recordKind({ ...found.compiled.kind, name: found.name });
    const context = createContext(options.capabilities, operation, caller);
    const result = await found.compiled.execute(context, variables);
    if (result) return toResponse(200, contentType, formatted(result, found, operation, options), operation, writer);
  }
  // The document is new, or the request costs too much, or its variables do not fit. Plugins of Apollo Server refuse the last
  // two, with messages that say why.
  return answerByApollo(options, request, body, operation, caller);
}

/** The result of compiled code as Apollo Server would give it. Its errors are reported. */
function formatted(
  { data = null, errors }: ExecutionResult,
  { relocate }: FoundOperation,
  operation: OperationRecorder,
  { telemetry }: AnswerOptions,
): FormattedExecutionResult {
  if (!errors) return { data };
  reportErrors(telemetry.log, operation, errors);
  return { data, errors: inOrder(errors.map((error) => formatError(relocate(error.toJSON()), error))) };
}

/** The parts of a request that decide whether the document cache can answer it. */
interface GraphqlRequest {
  readonly source: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Undefined for a request that Apollo Server has to refuse or to answer. */
function parseRequest(body: unknown): GraphqlRequest | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  // Sound: an object can be asked for any property, and each is checked before it is used.
  const { query, variables, operationName, extensions } = body as Record<string, unknown>;
  if (typeof query !== 'string' || !areIgnored(extensions)) return undefined;
  if (variables != null && (typeof variables !== 'object' || Array.isArray(variables))) return undefined;
  if (operationName != null && typeof operationName !== 'string') return undefined;
  return {
    source: query,
    operationName: operationName ?? undefined,
    // Sound: an object that came as JSON and is no list.
    variables: (variables ?? {}) as Record<string, unknown>,
  };
}

/** Apollo Server reads one of the extensions of a request. Others are what a client says about itself, as Apollo Client does. */
function areIgnored(extensions: unknown): boolean {
  if (extensions == null) return true;
  return typeof extensions === 'object' && !Array.isArray(extensions) && !('persistedQuery' in extensions);
}

function toResponse(
  status: number,
  contentType: string,
  result: FormattedExecutionResult,
  operation: OperationRecorder,
  { write, tooLarge }: AnswerWriter,
): HandlerResponse {
  const text = write(result);
  operation.recordResult(text === tooLarge.text ? tooLarge.result : result);
  return { status, headers: { 'content-type': contentType }, text };
}

async function answerByApollo(
  { apollo, capabilities, writer: { tooLarge } }: AnswerOptions,
  request: RequestHead,
  body: unknown,
  operation: OperationRecorder,
  caller: Caller,
): Promise<HandlerResponse> {
  const refusal = refusalOfDocument(Object(body).query);
  if (refusal) {
    const text = errorBody('GRAPHQL_VALIDATION_FAILED', refusal);
    operation.recordResult(JSON.parse(text));
    return { status: 400, headers: { 'content-type': JSON_TYPE }, text };
  }
  const {
    status = 200,
    headers,
    body: answer,
  } = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: request.method ?? '', headers: toHeaderMap(request, caller), search: '', body },
    context: async () => createContext(capabilities, operation, caller),
  });
  // Incremental delivery is not enabled, so there is no other kind.
  if (answer.kind !== 'complete') throw new Error(`expected a complete response, but got a ${answer.kind} one`);
  if (answer.string === tooLarge.text) operation.recordResult(tooLarge.result);
  return { status, headers: Object.fromEntries(headers), text: answer.string };
}

function toHeaderMap({ headers }: RequestHead, caller: Caller): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  // A trace reveals how requests are resolved, so no other caller gets one.
  if (caller.name !== ROUTER) map.delete(TRACE_HEADER);
  return map;
}
