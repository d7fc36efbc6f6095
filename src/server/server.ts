import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../callers/identity.ts';
import { framesOf } from '../errors.ts';
import type { MetricsRegistry } from '../observability/metrics.ts';
import type { Telemetry } from '../observability/operation.ts';
import { answerDevelopmentPage, hasLocalName, LOCAL_NAMES, pathOf } from '../runtime/http.ts';
import { type HandlerOptions, handleGraphql, openHandler } from './handler.ts';
import { overloaded, RequestRefused, refusal, send, sendRefusal, sendText } from './http.ts';
import { Listener } from './listener.ts';

export const GRAPHQL_PATH = '/graphql';
const METRICS_PATH = '/metrics';

/** Serves the public keys of attestations to verifiers (RFC 8615). */
const JWKS_PATH = '/.well-known/jwks.json';
/** How long verifiers may cache the keys. A new key has to be published for longer than this before it signs. */
const JWKS_MAX_AGE_SECONDS = 300;

/** How long requests in flight may take once no new connection is accepted, in ms. */
const DRAIN_MS = 7_000;
/** How long operations may take to end once their connections and calls are closed, in ms. */
const SETTLE_MS = 500;

/** The least time from one rendering of the metrics to the next, in ms: each takes milliseconds, and anybody may ask. */
const RENDER_INTERVAL_MS = 1_000;

const UPSTREAM_UNREADY = 'checking the upstream accounts; the log has the reason if one does not work';

export type Explorer = ReadonlyMap<string, () => Promise<string>>;

export interface ServerOptions extends HandlerOptions {
  /** The caller of a request; undefined if it has no known secret. */
  readonly identify: (request: IncomingMessage) => Caller | undefined;
  /** Readiness fails until this is true. */
  readonly isUpstreamReady: () => boolean;
  /** Pages for development. With them, introspection and requests from pages of this machine and Apollo Sandbox are allowed. */
  readonly explorer?: Explorer | undefined;
  /** The JWK set of attestations as JSON; undefined if attestations are not configured. */
  readonly jwks?: string | undefined;
}

/** Creates the GraphQL server for a schema. It does not listen yet. */
export async function createServer(schema: GraphQLSchema, options: ServerOptions) {
  const { telemetry, explorer, identify } = options;
  const { log, logHash, metrics } = telemetry;
  const handler = await openHandler(schema, explorer !== undefined, options);
  /** The operations whose log line is not yet written. */
  const underWay = new Set<Promise<void>>();
  /** The reason why the process is not ready, apart from its upstreams. */
  let unready: 'starting' | 'draining' | undefined = 'starting';
  const isReady = () => unready === undefined && options.isUpstreamReady();
  metrics.watchReadiness(isReady);
  const admin = createAdmin(metrics.registry, answerProbe);
  const listener = new Listener({
    ...options,
    metrics,
    handle: (request, response) => {
      route(request, response).catch((error: unknown) => refuse(response, error, telemetry));
    },
  });

  /** Answers an orchestrator's probe, on either port. For any other path, sends nothing and returns false. */
  function answerProbe(path: string, response: ServerResponse): boolean {
    if (path === '/healthz') sendText(response, 200, 'alive');
    else if (path !== '/readyz') return false;
    else if (isReady()) sendText(response, 200, 'ready');
    else sendText(response, 503, unready ?? UPSTREAM_UNREADY);
    return true;
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    const isOperation = path === GRAPHQL_PATH && request.method === 'POST';
    // Before the body is read, so that a request without the secret costs nothing.
    const caller = isOperation ? identify(request) : undefined;
    const isClaimed = caller !== undefined && listener.claim(request.socket, caller);
    // A client without a secret gets one answer on a connection, even if many requests have arrived with the first.
    if (!isClaimed) response.setHeader('connection', 'close');
    if (explorer && !hasLocalName(request)) throw new RequestRefused(421, `In sandbox mode use ${LOCAL_NAMES}.`);
    // This comes first, so that a page can read every response, refusals too.
    if (explorer && path === GRAPHQL_PATH && answerDevelopmentPage(request, response)) return;
    if (isOperation) {
      if (!caller) {
        const peer = logHash(request.socket.remoteAddress ?? '');
        log.info({ peer }, 'a request without a known secret was refused');
        throw refusal(401, 'UNAUTHENTICATED');
      }
      if (!isClaimed) throw overloaded();
      const operation = handleGraphql(handler, request, response, caller);
      underWay.add(operation);
      return operation
        .finally(() => underWay.delete(operation))
        .catch((error: unknown) => {
          // Without this line, a router that compresses its requests would fail silently.
          if (error instanceof RequestRefused && error.headers['accept-encoding'] !== undefined)
            log.warn({ caller: caller.name, reason: error.message }, 'a request with a content coding was refused');
          throw error;
        });
    }
    if (answerProbe(path, response)) return;
    const wantsPage = request.method === 'GET' && (request.headers.accept ?? '').includes('text/html');
    const render = wantsPage && explorer?.get(path);
    if (render) return send(response, 200, { 'content-type': 'text/html; charset=utf-8' }, await render());
    const usePost = 'Send the operation with POST: device tokens do not belong in URLs.';
    if (path === GRAPHQL_PATH) throw new RequestRefused(405, usePost, { allow: 'POST' });
    if (path === JWKS_PATH) return sendJwks(request, response, options.jwks);
    if (explorer && path === '/' && request.method === 'GET')
      return send(response, 302, { location: GRAPHQL_PATH }, '');
    throw new RequestRefused(404, `There is nothing here: GraphQL is at ${GRAPHQL_PATH}.`);
  }

  return {
    /** Listens on the port for metrics, then on the one for operations. Readiness can succeed from then on. */
    listen: async () => {
      const { host, port, adminPort } = options;
      const metricsUrl = (await admin.listen(host, adminPort)) + METRICS_PATH;
      const url = await listener.listen(host, port);
      unready = undefined;
      return { url, graphqlUrl: url + GRAPHQL_PATH, metricsUrl };
    },
    /** Fails readiness, answers with `connection: close` for the grace period, then drains for up to 7 s and closes all. */
    stop: async () => {
      const isServing = unready === undefined;
      unready = 'draining';
      listener.drain();
      if (isServing) await setTimeout(options.shutdownGraceMs);
      await listener.close(DRAIN_MS);
      await handler.apollo.stop();
      await admin.close(0);
    },
    /** Waits for the log lines of operations whose connections or calls were closed, for at most `SETTLE_MS`. */
    settle: () => Promise.race([Promise.allSettled(underWay), setTimeout(SETTLE_MS, undefined, { ref: false })]),
  };
}

/** A server for metrics and probes on a port of their own, which no router and no client needs to reach. */
function createAdmin(registry: MetricsRegistry, answerProbe: (path: string, response: ServerResponse) => boolean) {
  const texts = new LRUCache({ max: 1, ttl: RENDER_INTERVAL_MS, fetchMethod: registry.render });
  // No `metrics` are passed, because they count refusals and evictions of callers only.
  return new Listener({
    maxConnections: 64,
    handle: (request, response) => {
      const path = pathOf(request);
      // As for every caller without a secret.
      response.setHeader('connection', 'close');
      if (answerProbe(path, response)) return;
      if (path !== METRICS_PATH) return sendText(response, 404, `Metrics are at ${METRICS_PATH}.`);
      if (!isRead(request)) return sendText(response, 405, 'Metrics can only be read.', { allow: 'GET, HEAD' });
      texts.forceFetch(METRICS_PATH).then(
        (text) => send(response, 200, { 'content-type': registry.contentType }, text),
        () => sendText(response, 500, 'The metrics could not be collected.'),
      );
    },
  });
}

const isRead = ({ method = '' }: IncomingMessage) => method === 'GET' || method === 'HEAD';

function sendJwks(request: IncomingMessage, response: ServerResponse, keys: string | undefined): void {
  if (keys === undefined) throw refusal(404, 'NOT_CONFIGURED');
  if (!isRead(request)) throw new RequestRefused(405, 'Keys can only be read.', { allow: 'GET, HEAD' });
  const cacheControl = `max-age=${JWKS_MAX_AGE_SECONDS}`;
  send(response, 200, { 'content-type': 'application/jwk-set+json', 'cache-control': cacheControl }, keys);
}

/** Answers a request that did not become a GraphQL operation, in the shape of a GraphQL error. */
function refuse(response: ServerResponse, error: unknown, { log, metrics }: Telemetry): void {
  if (error instanceof RequestRefused) {
    metrics.recordRefusal(error.code);
    sendRefusal(response, error);
  } else if (!response.destroyed && !response.req.socket.destroyed) {
    // A destroyed response or socket means that the client disconnected while it sent the request, which is not our failure.
    metrics.recordRefusal('INTERNAL_SERVER_ERROR');
    log.error({ error: framesOf(error) }, 'a request failed unexpectedly');
    sendRefusal(response, refusal(500, 'INTERNAL_SERVER_ERROR'));
  }
}
