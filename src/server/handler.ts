import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FormattedExecutionResult, GraphQLSchema } from 'graphql';
import type { Caller } from '../callers/identity.ts';
import { ROUTER } from '../callers/settings.ts';
import { shareCapacity } from '../callers/shares.ts';
import { asError, DeviceTrustError, ERROR_CATALOGUE } from '../errors.ts';
import { type ContextOptions, RequestContext } from '../graphql/context.ts';
import { mayAnswer } from '../graphql/cost.ts';
import { reportErrors, toErrors } from '../graphql/errors.ts';
import { Operation } from '../observability/operation.ts';
import type { EventLoopMonitor } from '../runtime/event-loop.ts';
import { isObject } from '../runtime/json.ts';
import { type ApolloOptions, httpOf, startApollo, TRACE_HEADER } from './apollo.ts';
import {
  errorResult,
  JSON_TYPE,
  MAX_BYTES_IN_FLIGHT,
  overloaded,
  RequestRefused,
  readJsonBody,
  refusal,
  releaseWhenRead,
  send,
} from './http.ts';
import type { ServerSettings } from './settings.ts';

/** The largest answer: all that the default cost allows fits into it. */
const MAX_ANSWER_BYTES = 8_388_608;

export interface HandlerOptions extends ApolloOptions, ContextOptions, ServerSettings {
  /** New requests are refused while the event loop lags. */
  readonly eventLoop: Pick<EventLoopMonitor, 'isOverloaded' | 'watch'>;
  readonly maxAnswerBytes?: number;
}

type Handler = Awaited<ReturnType<typeof openHandler>>;

/** Builds the GraphQL handler of a schema. */
export async function openHandler(schema: GraphQLSchema, allowsIntrospection: boolean, options: HandlerOptions) {
  const { callers, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  return {
    ...options,
    maxAnswerBytes,
    apollo: await startApollo(schema, allowsIntrospection, options),
    /** Reserves the bytes of a body and of its parsed values, until the operation is over. */
    reserveBody: shareCapacity(MAX_BYTES_IN_FLIGHT, callers),
    /** Reserves the bytes of an answer, until the client has read it. The largest one fits into the share of a service, a quarter. */
    reserveAnswer: shareCapacity(Math.max(MAX_BYTES_IN_FLIGHT, maxAnswerBytes * 4), callers),
  };
}

/** Answers one GraphQL request. @throws RequestRefused before it becomes an operation, also while the process is overloaded */
export async function handleGraphql(
  handler: Handler,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller,
): Promise<void> {
  const { eventLoop, maxBodyBytes, telemetry } = handler;
  const unwatch = eventLoop.watch();
  const memory = handler.reserveBody(caller);
  try {
    if (eventLoop.isOverloaded()) throw overloaded();
    const contentType = negotiateContentType(request.headers.accept || '*/*');
    const parameters = parseRequest(await readJsonBody(request, maxBodyBytes, memory));
    if (response.destroyed) return;
    const operation = new Operation(request, telemetry);
    const context = new RequestContext(operation, caller, memory, handler);
    response.on('close', () => {
      if (!response.writableFinished) context.cancel();
    });
    const answer = await answerOperation(handler, request, parameters, contentType, context);
    const unread = handler.reserveAnswer(caller);
    const { status, headers, result, text, bytes } = unread.take(answer.bytes)
      ? answer
      : refuse(overloaded(), operation);
    send(response, status, headers, text, bytes);
    releaseWhenRead(response, unread);
    operation.end(caller.name, status, result);
  } finally {
    memory.release();
    unwatch();
  }
}

/** Answers an operation through Apollo Server. A failure gets an answer, too. */
async function answerOperation(
  { apollo, maxAnswerBytes, plugins = [] }: Handler,
  { headers }: IncomingMessage,
  parameters: ReturnType<typeof parseRequest>,
  contentType: string,
  contextValue: RequestContext,
) {
  const { operation, caller, thrown } = contextValue;
  const own = { 'content-type': contentType, 'x-request-id': operation.requestId };
  const answer = (status: number, result: FormattedExecutionResult) => ({
    status,
    headers: own,
    ...serialise(result, contextValue, maxAnswerBytes),
  });
  try {
    const isRouter = caller.name === ROUTER;
    const wantsHttp = plugins.length > 0 || (isRouter && headers[TRACE_HEADER] !== undefined);
    const request = wantsHttp ? { ...parameters, http: httpOf(headers, isRouter) } : parameters;
    const { http, body } = await apollo.executeOperation(request, { contextValue });
    // Incremental delivery, the other kind, is not enabled.
    if (body.kind !== 'single') throw new Error(`expected a complete response, but got a ${body.kind} one`);
    return answer(http.status ?? 200, body.singleResult);
  } catch (error) {
    const { error: cause = error } = thrown;
    if (cause instanceof DeviceTrustError) return answer(400, { errors: toErrors([cause]) });
    if (cause instanceof RequestRefused) return refuse(cause, operation);
    reportErrors(operation, [asError(cause)]);
    return refuse(refusal(500, 'INTERNAL_SERVER_ERROR'), operation);
  }
}

/** The answer to an operation that was refused. */
function refuse(refused: RequestRefused, operation: Operation) {
  const { status, code, headers } = refused;
  operation.recordFailure(ERROR_CATALOGUE[code].side);
  return { status, headers: { ...headers, 'content-type': JSON_TYPE }, ...toJson(errorResult(refused)) };
}

/** The GraphQL request in a body. A persisted query has an empty `query`. @throws RequestRefused with status 400 */
function parseRequest(body: unknown) {
  if (!isObject(body)) throw notGraphql('a JSON object');
  const { query, operationName, variables, extensions } = body;
  const isPersisted = isObject(extensions) && extensions['persistedQuery'] !== undefined;
  if (typeof query !== 'string' && !(query == null && isPersisted)) throw notGraphql('a text as its `query`');
  // Apollo Server identifies a document by the hash of its UTF-8, in which all lone surrogates are the same character.
  if (query?.isWellFormed() === false) throw notGraphql('Unicode text as its `query`');
  if (operationName != null && typeof operationName !== 'string') throw notGraphql('a text as its `operationName`');
  if (variables != null && !isObject(variables)) throw notGraphql('an object as its `variables`');
  if (extensions != null && !isObject(extensions)) throw notGraphql('an object as its `extensions`');
  return {
    query: query ?? '',
    ...(operationName != null && { operationName }),
    variables: variables ?? {},
    extensions: extensions ?? {},
  };
}

function notGraphql(expected: string): RequestRefused {
  return new RequestRefused(400, `The body is not a GraphQL request: expected ${expected}, but got something else.`);
}

/** The answer as JSON, or an error, if it costs too much or is too large. */
function serialise(result: FormattedExecutionResult, { cost }: RequestContext, maxBytes: number) {
  if (!mayAnswer(result, cost))
    return tooMuch(
      `The answer costs more than ${cost.max}, because its lists or values are long. Ask for less in one request.`,
    );
  const sent = toJson(result);
  if (sent.bytes <= maxBytes) return sent;
  return tooMuch(`The answer is larger than ${maxBytes} bytes. Ask for fewer fields or references in one request.`);
}

function tooMuch(message: string) {
  const error = new DeviceTrustError('OVERLOADED', { message, side: 'caller' });
  return toJson({ errors: toErrors([error]), data: null });
}

function toJson(result: FormattedExecutionResult) {
  const text = JSON.stringify(result);
  return { result, text, bytes: Buffer.byteLength(text) };
}

/** The content types of a GraphQL response by their media types, in the order of preference. */
const OFFERED = new Map([
  ['application/json', JSON_TYPE],
  ['application/graphql-response+json', 'application/graphql-response+json; charset=utf-8'],
]);

/**
 * The content type with the highest weight (RFC 9110, 12.5.1); of equal ones the first that is named. Other parameters are ignored,
 * because JSON has none (RFC 8259, section 11).
 *
 * @throws RequestRefused with status 406 if the client accepts none of our types
 */
function negotiateContentType(accept: string): string {
  // Routers name one type. Weighing it would add 1 KiB to the 66 that a request allocates.
  const single = OFFERED.get(accept);
  if (single !== undefined) return single;
  const weights = new Map<string, number>();
  for (const range of accept.toLowerCase().split(',')) {
    const [name = ''] = range.split(';', 1);
    weights.set(name.trim(), Number.parseFloat(/;\s*q=(\.?\d.*)/.exec(range)?.[1] ?? '1'));
  }
  // Older versions of Java send `*` alone.
  const others = ['application/*', '*/*', '*']
    .map((range) => weights.get(range))
    .find((weight) => weight !== undefined);
  const [best] = [...weights.keys(), ...OFFERED.keys()]
    .map((name) => ({ type: OFFERED.get(name), weight: weights.get(name) ?? others ?? 0 }))
    .filter(({ type, weight }) => type !== undefined && weight > 0)
    .sort((one, other) => other.weight - one.weight);
  if (best?.type === undefined) throw new RequestRefused(406, `Accept ${[...OFFERED.values()].join(' or ')}.`);
  return best.type;
}
