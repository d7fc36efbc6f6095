import { once } from 'node:events';
import type { Metrics } from '../observability/metrics.ts';
import { createServer, listenOn } from '../runtime/http.ts';
import { send } from './response.ts';

/** The operator's port, which no router and no client needs to reach. */
interface AdminServer {
  /** Where Prometheus reads. */
  readonly metricsUrl: string;
  stop(): Promise<void>;
}

/** Serves metrics on a port of their own. Rejects with the error of the socket if it cannot listen. */
export async function startAdmin(host: string, port: number, metrics: Metrics): Promise<AdminServer> {
  const server = createServer(({ method = '', url = '' }, response) => {
    const refuse = (status: number, words: string, headers: Readonly<Record<string, string>> = {}) =>
      send(response, status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }, `${words}\n`);
    if (url.split('?', 1)[0] !== '/metrics') return refuse(404, 'Metrics are at /metrics.');
    if (!['GET', 'HEAD'].includes(method)) return refuse(405, 'Metrics are to be read.', { allow: 'GET, HEAD' });
    metrics.render().then(
      ({ contentType, text }) => send(response, 200, { 'content-type': contentType }, text),
      () => refuse(500, 'Metrics could not be collected.'),
    );
  });
  const url = await listenOn(server, host, port);
  return {
    metricsUrl: `${url}/metrics`,
    stop: async () => {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}
