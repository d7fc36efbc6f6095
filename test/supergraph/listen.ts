import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of the supergraph that listens. Whoever starts one stops it. */
export interface Running {
  /** Where it answers GraphQL. */
  readonly url: string;
  /** Closes every socket. */
  stop(): Promise<void>;
}

/** Serves on loopback; port 0 picks a free one. Rejects with the error of the socket if it cannot. */
export async function listen(listener: RequestListener, port: number): Promise<Running> {
  const server = createServer(listener);
  await once(server.listen(port, '127.0.0.1'), 'listening'); // rejects on 'error'
  // Sound: a server that listens on TCP has an AddressInfo.
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}/graphql`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
