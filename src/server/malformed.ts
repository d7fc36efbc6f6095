import type { Socket } from 'node:net';
import { STATUS_CODES } from '../runtime/http.ts';
import { errorBody, JSON_TYPE } from './response.ts';

/** Node's error codes for requests that it cannot parse, or that do not arrive whole. Every other code becomes a 400. */
const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers bytes that are not a whole HTTP request, and closes the socket. Like every other response, this one is JSON that
 * must not be stored.
 *
 * @returns false if no response could be sent
 */
export function refuseMalformed({ code = '' }: NodeJS.ErrnoException, socket: Socket): boolean {
  // The client has disconnected, or has a part of another response, to which this one would seem to belong.
  if (!socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return false;
  }
  const status = STATUS[code] ?? 400;
  const body = errorBody('BAD_REQUEST', 'This is not a whole HTTP request, or it took too long to arrive.');
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${JSON_TYPE}`,
    'cache-control: no-store',
    'connection: close',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  return true;
}
