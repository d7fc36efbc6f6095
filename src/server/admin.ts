import type { Metrics } from '../observability/metrics.ts';
import { listenOn } from '../runtime/http.ts';
import { createBoundedServer } from './bounded-server.ts';
import type { Health } from './health.ts';
import { send, sendText } from './response.ts';

/** Prometheus and an orchestrator need a few. */
const MAX_CONNECTIONS = 64;
const KEEP_ALIVE_MS = 5_000;

/** The operator's port, which no router and no client needs to reach. */
interface AdminServer {
  /**
   * Starts to listen.
   *
   * @returns where Prometheus reads the metrics
   * @throws the error of the socket, if it cannot listen
   */
  listen(host: string, port: number): Promise<string>;
  stop(): Promise<void>;
}

/** A server for metrics and probes on a port of their own. It does not listen yet. */
export function createAdmin(metrics: Pick<Metrics, 'render'>, health: Health): AdminServer {
  const { server } = createBoundedServer({
    maxConnections: MAX_CONNECTIONS,
    keepAliveMs: KEEP_ALIVE_MS,
    // The metrics count the requests and connections of callers.
    onRefusal: () => {},
    onEviction: () => {},
    handle: ({ method = '', url = '', headers }, response) => {
      const [path] = url.split('?', 1);
      if (health.answer(path, response)) return;
      if (path !== '/metrics') return sendText(response, 404, 'Metrics are at /metrics.');
      if (!['GET', 'HEAD'].includes(method))
        return sendText(response, 405, 'Metrics can only be read.', { allow: 'GET, HEAD' });
      metrics.render(headers.accept).then(
        ({ contentType, text }) => send(response, 200, { 'content-type': contentType }, text),
        () => sendText(response, 500, 'The metrics could not be collected.'),
      );
    },
  });
  return {
    listen: async (host, port) => `${await listenOn(server, host, port)}/metrics`,
    stop: () =>
      new Promise((resolve) => {
        // It fails only if the server does not listen, and then there is nothing to stop.
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
