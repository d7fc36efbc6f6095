import { once } from 'node:events';
import type { Server } from 'node:http';

/**
 * Taken from Node, and not imported: an import of `node:http` reads everything that it exports, and one of those loads all
 * of the undici inside Node, which costs some 30 ms of a start.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Makes a server listen.
 *
 * @returns its scheme, host and port, without a trailing slash
 * @throws the error of the socket, if it cannot
 */
export async function listenOn(server: Server, host: string, port: number): Promise<string> {
  await once(server.listen(port, host), 'listening'); // rejects on 'error'
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('expected to listen on a port, but got a pipe');
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
}
