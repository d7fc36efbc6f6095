import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '../observability/metrics.ts';
import { send } from './response.ts';

/** The operator's port, which no router and no client needs to reach. */
export interface AdminServer {
  /** Where Prometheus reads. */
  readonly metricsUrl: string;
  stop(): Promise<void>;
}

/** Serves metrics on a port of their own. Rejects with the error of the socket if it cannot listen. */
export async function startAdmin(host: string, port: number, metrics: Metrics): Promise<AdminServer> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      send(response, 404, { 'content-type': 'text/plain; charset=utf-8' }, 'Metrics are at /metrics.\n');
      return;
    }
    metrics.render().then(
      ({ contentType, text }) => send(response, 200, { 'content-type': contentType }, text),
      () => send(response, 500, { 'content-type': 'text/plain; charset=utf-8' }, 'Metrics could not be collected.\n'),
    );
  });
  await once(server.listen(port, host), 'listening'); // rejects on 'error'
  // Sound: a server that listens on TCP has an AddressInfo.
  const { address, family, port: taken } = server.address() as AddressInfo;
  return {
    metricsUrl: `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}/metrics`,
    stop: async () => {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}
