import type { Metrics } from '../observability/metrics.ts';
import type { Health } from './health.ts';
import { send, sendText } from './http.ts';
import { Listener } from './listener.ts';

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
  // The metrics count the requests and connections of callers, and none of these.
  const listener = new Listener({
    maxConnections: MAX_CONNECTIONS,
    keepAliveMs: KEEP_ALIVE_MS,
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
    listen: async (host, port) => `${await listener.listen(host, port)}/metrics`,
    stop: () => listener.close(0),
  };
}
