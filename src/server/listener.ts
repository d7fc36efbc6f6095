import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { ApolloServerPlugin } from '@apollo/server';
import { ERROR_CATALOGUE, type ErrorCode, framesOf } from '../errors.ts';
import { createServer, listenOn } from '../runtime/http.ts';
import type { Callers } from './callers.ts';
import { refuseMalformed } from './malformed.ts';
import type { Telemetry } from './operation-log.ts';
import { RequestRefused } from './refusal.ts';
import { errorBody, JSON_TYPE, send } from './response.ts';

/** Where GraphQL is served. */
export const GRAPHQL_PATH = '/graphql';

/** A request has to arrive whole within this time, in ms, so that a client that sends slowly holds no socket for longer. */
const RECEIVE_TIMEOUT_MS = 10_000;
/** How often that is checked, in ms. Node's default of 30 s would let a connection live four times as long. */
const CHECK_INTERVAL_MS = 1_000;
/** Longer than routers keep an idle connection (60 s is common), so that this side never closes one that is just used. */
const KEEP_ALIVE_MS = 75_000;
/** How long requests under way may take to finish once no new connection is accepted, in ms. */
const DRAIN_MS = 7_000;

/** Pages for people in development. */
export interface Explorer {
  /** Apollo Server's landing page, at `/graphql` for browsers. */
  readonly landingPage: ApolloServerPlugin;
  readonly graphiqlPath: string;
  readonly renderGraphiql: (endpoint: string) => Promise<string>;
}

interface Options {
  /** Answers a GraphQL request. May throw a RequestRefused. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly callers: Callers;
  /** Called before the body is read. May throw a RequestRefused. */
  readonly beforeOperation: () => void;
  /** Idle connections count as well: each takes one of the descriptors that calls to the upstreams need too. */
  readonly maxConnections: number;
  /** The time between failing readiness and refusing connections, in ms. */
  readonly shutdownGraceMs: number;
  readonly explorer: Explorer | undefined;
  readonly telemetry: Telemetry;
}

interface Listener {
  /** @throws the error of the socket, if it cannot listen */
  readonly listen: (host: string, port: number) => Promise<string>;
  /**
   * Fails readiness and goes on answering for the grace period with `connection: close`, so that a router moves to other
   * replicas. Then accepts no new connection, lets requests under way finish for 7 s at most, and closes every socket.
   */
  readonly stop: () => Promise<void>;
}

/** An HTTP server that routes requests. It does not listen yet. */
export function createListener(options: Options): Listener {
  const { telemetry } = options;
  let isDraining = false;
  const server = createServer(
    {
      requestTimeout: RECEIVE_TIMEOUT_MS,
      headersTimeout: RECEIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      if (isDraining) response.setHeader('connection', 'close');
      route(options, isDraining, request, response).catch((error: unknown) => refuse(response, error, telemetry));
    },
  );
  server.maxConnections = options.maxConnections;
  server.on('drop', () => telemetry.metrics.recordRefusal('OVERLOADED'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (refuseMalformed(error, socket)) telemetry.metrics.recordRefusal('BAD_REQUEST');
  });
  return {
    listen: (host, port) => listenOn(server, host, port),
    stop: async () => {
      isDraining = true;
      if (server.listening) await setTimeout(options.shutdownGraceMs);
      await close(server);
    },
  };
}

async function route(
  { handle, callers, beforeOperation, explorer }: Options,
  isDraining: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = (request.url ?? '/').split('?', 1);
  switch (path) {
    case GRAPHQL_PATH:
      if (explorer && wantsPage(request)) return handle(request, response);
      if (request.method === 'POST') {
        // Before a byte of the body is read, so that a request without the secret costs nothing.
        if (!callers.isAllowed(request.headers['router-authorization']))
          throw new RequestRefused(401, NOT_THE_ROUTER, { connection: 'close' }, 'UNAUTHENTICATED');
        beforeOperation();
        return handle(request, response);
      }
      throw new RequestRefused(405, 'Send the operation with POST: device tokens do not belong in URLs.', {
        allow: 'POST',
      });
    case '/healthz':
      return sendText(response, 200, 'alive');
    case '/readyz':
      return isDraining ? sendText(response, 503, 'draining') : sendText(response, 200, 'ready');
    case explorer?.graphiqlPath:
      if (explorer) return sendPage(response, await explorer.renderGraphiql(GRAPHQL_PATH));
      break;
    case '/':
      if (explorer) return send(response, 302, { location: GRAPHQL_PATH }, '');
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

/** Answers a request that did not become a GraphQL operation, in the shape of a GraphQL error. */
function refuse(response: ServerResponse, error: unknown, { log, metrics }: Telemetry): void {
  if (error instanceof RequestRefused) {
    metrics.recordRefusal(error.code);
    sendError(response, error.status, error.code, error.message, error.headers);
  } else if (!response.destroyed) {
    // A destroyed response means that the client disconnected while it sent the request, which is no failure of ours.
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
  // A connection becomes idle after its response. A client that keeps it alive would keep the server from closing.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const force = new AbortController();
  await Promise.race([closed, setTimeout(DRAIN_MS, undefined, { signal: force.signal }).catch(() => {})]);
  force.abort();
  clearInterval(sweep);
  server.closeAllConnections();
  await closed;
}
