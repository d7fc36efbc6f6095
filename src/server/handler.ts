import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApolloServerPlugin } from '@apollo/server';
import type { FormattedExecutionResult, GraphQLSchema } from 'graphql';
import { DeviceTrustError, ERROR_CATALOGUE } from '../errors.ts';
import type { Caller } from '../graphql/caller.ts';
import { type ContextOptions, RequestContext } from '../graphql/context.ts';
import { mayAnswer } from '../graphql/cost.ts';
import { toErrors } from '../graphql/errors.ts';
import type { CostLimits } from '../graphql/settings.ts';
import { Operation, type Telemetry } from '../observability/operation.ts';
import type { EventLoopMonitor } from '../runtime/event-loop.ts';
import { isObject } from '../runtime/json.ts';
import { callersIn, shareCapacity } from '../runtime/shares.ts';
import { startApollo } from './apollo.ts';
import {
  JSON_TYPE,
  MAX_BYTES_IN_FLIGHT,
  overloaded,
  RequestRefused,
  readJsonBody,
  releaseWhenRead,
  send,
  sendRefusal,
} from './http.ts';
import type { ServerSettings } from './settings.ts';

/** The largest answer: all that the default cost allows fits into it. */
const MAX_ANSWER_BYTES = 8_388_608;

export interface HandlerOptions extends ServerSettings, CostLimits, ContextOptions {
  /** New requests are refused while the event loop lags. */
  readonly eventLoop: Pick<EventLoopMonitor, 'isOverloaded' | 'watch'>;
  readonly telemetry: Telemetry;
  readonly maxAnswerBytes?: number;
  /** A company's own plugins. With any, Apollo Server executes every operation, so that the plugins see the execution. */
  readonly plugins?: readonly ApolloServerPlugin<RequestContext>[];
}

type Handler = Awaited<ReturnType<typeof openHandler>>;

/** Opens what answers the operations of a schema. */
export async function openHandler(schema: GraphQLSchema, allowsIntrospection: boolean, options: HandlerOptions) {
  const { maxAnswerBytes = MAX_ANSWER_BYTES, plugins = [], routerSecrets } = options;
  const inlineTraces = routerSecrets.length > 0;
  const callers = callersIn(options);
  return {
    ...options,
    maxAnswerBytes,
    apollo: await startApollo(schema, { ...options, allowsIntrospection, inlineTraces, callers, plugins }),
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
  const { maxBodyBytes, maxAnswerBytes, telemetry, eventLoop } = handler;
  const unwatch = eventLoop.watch();
  const body = handler.reserveBody(caller);
  try {
    if (eventLoop.isOverloaded()) throw overloaded();
    const contentType = negotiateContentType(request.headers.accept);
    const parameters = parseRequest(await readJsonBody(request, maxBodyBytes, body));
    if (response.destroyed) return;
    const operation = new Operation(request, caller, telemetry);
    const context = new RequestContext(operation, caller, body, handler);
    response.on('close', () => {
      if (!response.writableFinished) operation.cancel();
    });
    let status = 500;
    let result: FormattedExecutionResult | undefined;
    try {
      const answer = await handler.apollo.answer(parameters, request.headers, context);
      status = answer.status;
      const sent = serialise(answer.result, context, maxAnswerBytes);
      result = sent.result;
      const unread = handler.reserveAnswer(caller);
      if (!unread.take(sent.bytes)) throw overloaded();
      try {
        const own = { 'content-type': contentType, 'cache-control': 'no-store', 'x-request-id': operation.requestId };
        send(response, status, own, sent.text, sent.bytes);
      } finally {
        releaseWhenRead(response, unread);
      }
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
      ({ status } = error);
      operation.recordFailure(ERROR_CATALOGUE[error.code].side);
      result = { errors: [{ message: error.message, extensions: { code: error.code } }] };
      sendRefusal(response, error);
    } finally {
      operation.end(status, result);
    }
  } finally {
    body.release();
    unwatch();
  }
}

/** The GraphQL request in a body. A persisted query has an empty `query`. @throws RequestRefused with status 400 */
function parseRequest(body: unknown) {
  if (!isObject(body)) throw notGraphql('a JSON object');
  const { query, operationName, variables, extensions } = body;
  const isPersisted = isObject(extensions) && extensions['persistedQuery'] !== undefined;
  if (typeof query !== 'string' && !(query == null && isPersisted)) throw notGraphql('a text as its `query`');
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
  const text = JSON.stringify(result);
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return { result, text, bytes };
  return tooMuch(`The answer is larger than ${maxBytes} bytes. Ask for fewer fields or references in one request.`);
}

function tooMuch(message: string) {
  const error = new DeviceTrustError('OVERLOADED', { message, side: 'caller' });
  const result = { errors: toErrors([error]), data: null };
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
function negotiateContentType(accept: string | undefined): string {
  // Routers name one type. To weigh it would allocate 1 KiB of the 58 of a request.
  const single = OFFERED.get(accept ?? 'application/json');
  if (single !== undefined) return single;
  const weights = new Map<string, number>();
  for (const range of (accept || '*/*').toLowerCase().split(',')) {
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
