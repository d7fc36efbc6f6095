import type { ServerResponse } from 'node:http';
import type { MetricsRegistry } from '../observability/metrics.ts';
import { pathOf } from '../runtime/http.ts';
import { send, sendText } from './http.ts';
import { Listener } from './listener.ts';

/** Liveness, readiness and metrics, for operators. */

export const METRICS_PATH = '/metrics';

const MAX_CONNECTIONS = 64;
const KEEP_ALIVE_MS = 5_000;

const UPSTREAM_UNREADY = 'checking the upstream accounts; the log has the reason if one does not work';

/** The answers to an orchestrator's probes, on the GraphQL port and on the admin port. */
export class Health {
  /** The reason why the process is not ready, apart from its upstreams. */
  unready: 'starting' | 'draining' | undefined = 'starting';
  readonly #isUpstreamReady: () => boolean;

  constructor(isUpstreamReady: () => boolean) {
    this.#isUpstreamReady = isUpstreamReady;
  }

  get isReady(): boolean {
    return this.unready === undefined && this.#isUpstreamReady();
  }

  /** Answers a probe. False, with nothing sent, if this is not the path of one. */
  answer(path: string, response: ServerResponse): boolean {
    if (path === '/healthz') sendText(response, 200, 'alive');
    else if (path !== '/readyz') return false;
    else if (this.isReady) sendText(response, 200, 'ready');
    else sendText(response, 503, this.unready ?? UPSTREAM_UNREADY);
    return true;
  }
}

/** A server for metrics and probes on a port of their own, which no router and no client needs to reach. */
export function createAdmin(metrics: Pick<MetricsRegistry, 'render' | 'contentType'>, health: Health): Listener {
  let rendering: Promise<string> | undefined;
  // The metrics count the requests and connections of callers, and none of these.
  return new Listener({
    maxConnections: MAX_CONNECTIONS,
    keepAliveMs: KEEP_ALIVE_MS,
    handle: (request, response) => {
      const path = pathOf(request);
      if (health.answer(path, response)) return;
      if (path !== METRICS_PATH) return sendText(response, 404, `Metrics are at ${METRICS_PATH}.`);
      if (!['GET', 'HEAD'].includes(request.method ?? ''))
        return sendText(response, 405, 'Metrics can only be read.', { allow: 'GET, HEAD' });
      // Concurrent requests share one rendering, which takes 3 ms.
      rendering ??= metrics.render().finally(() => {
        rendering = undefined;
      });
      rendering.then(
        (text) => send(response, 200, { 'content-type': metrics.contentType }, text),
        () => sendText(response, 500, 'The metrics could not be collected.'),
      );
    },
  });
}
