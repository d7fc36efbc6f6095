import type { IncomingMessage, ServerResponse } from 'node:http';
import { HeaderMap } from '@apollo/server';
import type { FormattedExecutionResult } from 'graphql';
import { type Capabilities, createContext } from '../graphql/context.ts';
import { formatError, inOrder, reportErrors } from '../graphql/errors.ts';
import type { GraphqlEngine } from './apollo.ts';
import { readJsonBody } from './body.ts';
import { type FastRequest, serialize } from './fast-path.ts';
import { refusalOf } from './limits.ts';
import { type RunningOperation, startOperation, type Telemetry, tellOfResult } from './operation-log.ts';
import { type Pressure, refuseUnderPressure } from './pressure.ts';
import { errorBody, JSON_TYPE, send } from './response.ts';

/** What answers GraphQL requests. */
export interface GraphqlOptions {
  readonly engine: GraphqlEngine;
  readonly capabilities: Capabilities;
  readonly maxBodyBytes: number;
  readonly pressure: Pressure;
  readonly telemetry: Telemetry;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Answers one GraphQL request. A caller who hangs up before the answer aborts every upstream call that is still under way,
 * but for the probe of a circuit breaker.
 *
 * @throws RequestRefused if the HTTP request cannot be a GraphQL one
 */
export async function answerGraphql(
  options: GraphqlOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = request.method === 'POST' ? await readJsonBody(request, options.maxBodyBytes) : undefined;
  if (response.destroyed) return;
  // Again, because a body can arrive long after the headers that were let in.
  refuseUnderPressure(options.pressure);
  const operation = startOperation(request.headers, options.telemetry);
  response.on('close', operation.cancel);
  let status = 500; // until there is an answer
  try {
    const fast = options.engine.fastPath.match(body, request.headers);
    const answer =
      (fast && (await answerFast(options, fast, operation))) ??
      (await answerByApollo(options, request, body, operation));
    status = answer.status;
    send(response, status, answer.headers, answer.text);
  } finally {
    operation.end(status);
  }
}

/** Undefined if the variables do not fit: what to say of that is the slow way's. */
async function answerFast(
  { capabilities, telemetry }: GraphqlOptions,
  { operation: compiled, variables, contentType }: FastRequest,
  operation: RunningOperation,
): Promise<Answer | undefined> {
  operation.name = compiled.name;
  const result = await compiled.execute(createContext(capabilities, operation), variables);
  if (!result) return undefined;
  const formatted: FormattedExecutionResult = { data: result.data ?? null };
  if (result.errors) {
    reportErrors(telemetry.log, operation.requestId, result.errors);
    formatted.errors = inOrder(result.errors.map((error) => formatError(error.toJSON(), error)));
  }
  tellOfResult(operation, formatted);
  return { status: 200, headers: { 'content-type': contentType }, text: serialize(formatted) };
}

async function answerByApollo(
  { engine: { apollo, fastPath }, capabilities }: GraphqlOptions,
  request: IncomingMessage,
  parsedBody: unknown,
  operation: RunningOperation,
): Promise<Answer> {
  const refusal = refusalOf(Object(parsedBody).query);
  if (refusal) {
    operation.errors = ['GRAPHQL_VALIDATION_FAILED'];
    return {
      status: 400,
      headers: { 'content-type': JSON_TYPE },
      text: errorBody('GRAPHQL_VALIDATION_FAILED', refusal),
    };
  }
  const { status, headers, body } = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: request.method ?? '', headers: toHeaderMap(request), search: '', body: parsedBody },
    context: async () => createContext(capabilities, operation),
  });
  // Incremental delivery is not enabled, so there is no other kind.
  if (body.kind !== 'complete') throw new Error(`expected a complete answer, but got a ${body.kind} one`);
  const contentType = headers.get('content-type');
  if (request.method === 'POST' && status === undefined && contentType) {
    fastPath.learnContentType(request.headers.accept, contentType);
  }
  return { status: status ?? 200, headers: Object.fromEntries(headers), text: body.string.trimEnd() };
}

function toHeaderMap({ headers }: IncomingMessage): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return map;
}
