import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Does this machine have IPv6? Some containers do not. */
export const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

/**
 * Makes a server of any kind listen on loopback; port 0 picks a free one. Rejects with the error of the socket if it cannot.
 *
 * @returns its port
 */
export async function listen(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  await once(server.listen(port, host), 'listening'); // rejects on 'error'
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error(`expected a port, but got ${address}`);
  return address.port;
}

/** Closes a server and every connection to it, whatever is under way. */
export function closeAtOnce(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
