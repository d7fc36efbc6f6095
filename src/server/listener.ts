import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { ERROR_CATALOGUE, type ErrorCode, framesOf } from '../errors.ts';
import { GRAPHIQL_PATH, renderGraphiql } from '../explorer/graphiql.ts';
import { createServer, listenOn } from '../runtime/http.ts';
import type { Gate } from './callers.ts';
import { answerGraphql, type GraphqlOptions } from './handler.ts';
import { refuseMalformed } from './malformed.ts';
import type { Telemetry } from './operation-log.ts';
import { refuseUnderPressure } from './pressure.ts';
import { RequestRefused } from './refusal.ts';
import { errorBody, JSON_TYPE, send } from './response.ts';

/** Where GraphQL is served. */
export const GRAPHQL_PATH = '/graphql';

/** A request has to arrive whole within this time, in ms; a caller that drips bytes holds no socket for longer. */
const RECEIVE_TIMEOUT_MS = 10_000;
/** How often that is looked at, in ms; Node's own 30 s would let a connection live four times as long. */
const CHECK_INTERVAL_MS = 1_000;
/** Longer than routers keep an idle connection (60 s is common), so that it is never us who closes it under a request. */
const KEEP_ALIVE_MS = 75_000;
/** How long requests under way may take to finish once the door is closed, in ms. */
const DRAIN_MS = 7_000;

interface Options extends GraphqlOptions {
  readonly host: string;
  readonly port: number;
  /** Idle ones count as well: each takes one of the sockets that calls to the upstreams need too. */
  readonly maxConnections: number;
  /** Who may ask. */
  readonly gate: Gate;
  /** Between failing readiness and closing the door, in ms. */
  readonly shutdownGraceMs: number;
  /** Serves a landing page and GraphiQL. */
  readonly explorable: boolean;
}

/** A listening server. */
interface Listener {
  /** Scheme, host and port, without a trailing slash. */
  readonly url: string;
  /**
   * Fails readiness, still answering for the grace period with `connection: close`, so that a router goes elsewhere by
   * itself. Then takes no new connection, lets requests under way finish for 7 s at most, and closes every socket.
   */
  stop(): Promise<void>;
}

/** Starts to listen. Rejects with the error of the socket if it cannot. */
export async function listen(options: Options): Promise<Listener> {
  const { host, port, telemetry } = options;
  let draining = false;
  const server = createServer(
    {
      requestTimeout: RECEIVE_TIMEOUT_MS,
      headersTimeout: RECEIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      if (draining) response.setHeader('connection', 'close');
      route(options, draining, request, response).catch((error: unknown) => refuse(response, error, telemetry));
    },
  );
  server.maxConnections = options.maxConnections;
  server.on('drop', () => telemetry.metrics.recordRefusal('OVERLOADED'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (refuseMalformed(error, socket)) telemetry.metrics.recordRefusal('BAD_REQUEST');
  });
  return {
    url: await listenOn(server, host, port),
    stop: async () => {
      draining = true;
      await setTimeout(options.shutdownGraceMs);
      await close(server);
    },
  };
}

async function route(
  options: Options,
  draining: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { gate, pressure, explorable } = options;
  const [path] = (request.url ?? '/').split('?', 1);
  switch (path) {
    case GRAPHQL_PATH:
      if (explorable && wantsPage(request)) return answerGraphql(options, request, response);
      if (request.method === 'POST') {
        // Before a byte of the body is read: what a stranger sends costs nothing.
        if (!gate(request.headers['router-authorization']))
          throw new RequestRefused(401, NOT_THE_ROUTER, { connection: 'close' }, 'UNAUTHENTICATED');
        refuseUnderPressure(pressure);
        return answerGraphql(options, request, response);
      }
      throw new RequestRefused(405, 'Send the operation with POST: device tokens do not belong in URLs.', {
        allow: 'POST',
      });
    case '/healthz':
      return sendText(response, 200, 'alive');
    case '/readyz':
      return draining ? sendText(response, 503, 'draining') : sendText(response, 200, 'ready');
    case GRAPHIQL_PATH:
      if (explorable) return sendPage(response, await renderGraphiql(GRAPHQL_PATH));
      break;
    case '/':
      if (explorable) return send(response, 302, { location: GRAPHQL_PATH }, '');
  }
  throw new RequestRefused(404, `There is nothing here: GraphQL is at ${GRAPHQL_PATH}.`);
}

const NOT_THE_ROUTER = ERROR_CATALOGUE.UNAUTHENTICATED.message;

function wantsPage({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html');
}

function sendText(response: ServerResponse, status: number, text: string): void {
  send(response, status, { 'content-type': 'text/plain; charset=utf-8' }, `${text}\n`);
}

function sendPage(response: ServerResponse, html: string): void {
  send(response, 200, { 'content-type': 'text/html; charset=utf-8' }, html);
}

/** Answers a request that became no GraphQL operation, in the shape of a GraphQL error. */
function refuse(response: ServerResponse, error: unknown, { log, metrics }: Telemetry): void {
  if (error instanceof RequestRefused) {
    metrics.recordRefusal(error.code);
    sendError(response, error.status, error.code, error.message, error.headers);
  } else if (!response.destroyed) {
    // Otherwise the caller hung up while sending, which is no failure of ours.
    metrics.recordRefusal('INTERNAL_SERVER_ERROR');
    log.error({ error: framesOf(error) }, 'a request failed unexpectedly');
    sendError(response, 500, 'INTERNAL_SERVER_ERROR', ERROR_CATALOGUE.INTERNAL_SERVER_ERROR.message);
  }
}

function sendError(
  response: ServerResponse,
  status: number,
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(response, status, { ...headers, 'content-type': JSON_TYPE }, errorBody(code, message));
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection becomes idle when its answer is out, and a caller that keeps it alive would hold the server open.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const force = new AbortController();
  await Promise.race([closed, setTimeout(DRAIN_MS, undefined, { signal: force.signal }).catch(() => {})]);
  force.abort();
  clearInterval(sweep);
  server.closeAllConnections();
  await closed;
}
