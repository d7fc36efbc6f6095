import type { Metrics } from '../observability/metrics.ts';
import { createServer, listenOn } from '../runtime/http.ts';
import { send } from './response.ts';

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

/** A server for metrics on a port of their own. It does not listen yet. */
export function createAdmin(metrics: Pick<Metrics, 'render'>): AdminServer {
  const server = createServer(({ method = '', url = '' }, response) => {
    const refuse = (status: number, text: string, headers: Readonly<Record<string, string>> = {}) =>
      send(response, status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }, `${text}\n`);
    if (url.split('?', 1)[0] !== '/metrics') return refuse(404, 'Metrics are at /metrics.');
    if (!['GET', 'HEAD'].includes(method)) return refuse(405, 'Metrics can only be read.', { allow: 'GET, HEAD' });
    metrics.render().then(
      ({ contentType, text }) => send(response, 200, { 'content-type': contentType }, text),
      () => refuse(500, 'The metrics could not be collected.'),
    );
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
