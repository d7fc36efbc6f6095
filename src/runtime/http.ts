import { once } from 'node:events';
import type { Server } from 'node:http';

/**
 * From `getBuiltinModule`, because an import of `node:http` reads all of its exports, and one of them loads the undici inside
 * Node, which makes a start about 30 ms slower.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Makes a server listen; port 0 takes a free one.
 *
 * @returns the server's scheme, host and port, without a trailing slash
 * @throws the error of the socket if the server cannot listen
 */
export async function listenOn(server: Server, host: string, port: number): Promise<string> {
  await once(server.listen(port, host), 'listening'); // rejects on 'error'
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('expected to listen on a port, but got a pipe');
  const { address, family } = bound;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound.port}`;
}
