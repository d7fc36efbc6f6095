import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { ApolloServerPlugin } from '@apollo/server';
import { ERROR_CATALOGUE, framesOf } from '../errors.ts';
import type { Caller } from '../graphql/caller.ts';
import { listenOn } from '../runtime/http.ts';
import { continueWith, createBoundedServer } from './bounded-server.ts';
import { ANYONE, type Callers } from './callers.ts';
import { ConnectionEnds } from './connection-ends.ts';
import type { Connections } from './connections.ts';
import { Health } from './health.ts';
import type { Telemetry } from './operation-log.ts';
import { RequestRefused } from './refusal.ts';
import { send, sendPublic, sendRefusal } from './response.ts';

/** Where GraphQL is served. */
export const GRAPHQL_PATH = '/graphql';

/** Where verifiers get the keys of attestations (RFC 8615). Anyone may: they are public. */
const JWKS_PATH = '/.well-known/jwks.json';
/** How long verifiers may use the keys without asking again. A new key has to be published longer than this before it signs. */
const JWKS_MAX_AGE_SECONDS = 300;

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
  readonly handle: (request: IncomingMessage, response: ServerResponse, caller: Caller) => Promise<void>;
  readonly callers: Callers;
  /** Called before the body is read. May throw a RequestRefused. */
  readonly beforeOperation: () => void;
  readonly maxConnections: number;
  /** From this age on a connection ends with its next response, in ms; with 0 it never does. */
  readonly maxConnectionAgeMs: number;
  /** Readiness fails until this is true. */
  readonly isUpstreamReady: () => boolean;
  /** The time between failing readiness and refusing connections, in ms. */
  readonly shutdownGraceMs: number;
  readonly explorer: Explorer | undefined;
  /** The JWK set as JSON. Undefined if no attestations are configured. */
  readonly jwks: () => string | undefined;
  readonly telemetry: Telemetry;
}

interface Listener {
  /** What probes get, on other ports as well. */
  readonly health: Health;
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
  const { telemetry, maxConnections } = options;
  const health = new Health(options.isUpstreamReady);
  const { server, connections } = createBoundedServer({
    maxConnections,
    keepAliveMs: KEEP_ALIVE_MS,
    onRefusal: telemetry.metrics.recordRefusal,
    onEviction: telemetry.metrics.recordEviction,
    handle: (request, response) => {
      if (!ends.mayAnswer(request.socket, response)) return;
      route(options, health, connections, request, response).catch((error: unknown) =>
        refuse(response, error, telemetry),
      );
    },
  });
  const ends = new ConnectionEnds(server, options.maxConnectionAgeMs, () => health.isDraining);
  return {
    health,
    listen: async (host, port) => {
      const url = await listenOn(server, host, port);
      health.startServing();
      return url;
    },
    stop: async () => {
      health.startDraining();
      if (server.listening) await setTimeout(options.shutdownGraceMs);
      await close(server);
    },
  };
}

async function route(
  { handle, callers, beforeOperation, explorer, jwks }: Options,
  health: Health,
  connections: Connections,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = (request.url ?? '/').split('?', 1);
  if (path === GRAPHQL_PATH && request.method === 'POST') {
    // Before a byte of the body is read, so that a request without the secret costs nothing.
    const caller = callers.identify(request);
    if (!caller) throw new RequestRefused(401, NOT_KNOWN, { connection: 'close' }, 'UNAUTHENTICATED');
    connections.prove(request.socket);
    beforeOperation();
    continueWith(request, response);
    // Awaited here: to return the promise itself takes two more turns of the queue of microtasks.
    return await handle(request, response, caller);
  }
  connections.limit(request.socket, response);
  if (health.answer(path, response)) return;
  switch (path) {
    case GRAPHQL_PATH:
      if (explorer && wantsPage(request)) return handle(request, response, ANYONE);
      throw new RequestRefused(405, 'Send the operation with POST: device tokens do not belong in URLs.', {
        allow: 'POST',
      });
    case JWKS_PATH: {
      const keys = jwks();
      if (keys !== undefined) return sendJwks(request, response, keys);
      break;
    }
    case explorer?.graphiqlPath:
      if (explorer) return sendPage(response, await explorer.renderGraphiql(GRAPHQL_PATH));
      break;
    case '/':
      if (explorer) return send(response, 302, { location: GRAPHQL_PATH }, '');
  }
  throw new RequestRefused(404, `There is nothing here: GraphQL is at ${GRAPHQL_PATH}.`);
}

const NOT_KNOWN = ERROR_CATALOGUE.UNAUTHENTICATED.message;

function wantsPage({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html');
}

function sendPage(response: ServerResponse, html: string): void {
  send(response, 200, { 'content-type': 'text/html; charset=utf-8' }, html);
}

function sendJwks({ method = '' }: IncomingMessage, response: ServerResponse, keys: string): void {
  if (!['GET', 'HEAD'].includes(method))
    throw new RequestRefused(405, 'Keys can only be read.', { allow: 'GET, HEAD' });
  sendPublic(response, 'application/jwk-set+json', keys, JWKS_MAX_AGE_SECONDS);
}

/** Answers a request that did not become a GraphQL operation, in the shape of a GraphQL error. */
function refuse(response: ServerResponse, error: unknown, { log, metrics }: Telemetry): void {
  if (error instanceof RequestRefused) {
    metrics.recordRefusal(error.code);
    sendRefusal(response, error);
  } else if (!response.destroyed) {
    // A destroyed response means that the client disconnected while it sent the request, which is no failure of ours.
    metrics.recordRefusal('INTERNAL_SERVER_ERROR');
    log.error({ error: framesOf(error) }, 'a request failed unexpectedly');
    const { message } = ERROR_CATALOGUE.INTERNAL_SERVER_ERROR;
    sendRefusal(response, new RequestRefused(500, message, {}, 'INTERNAL_SERVER_ERROR'));
  }
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
