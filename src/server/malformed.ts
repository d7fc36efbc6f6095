import type { Socket } from 'node:net';
import { STATUS_CODES } from '../runtime/http.ts';
import { errorBody, JSON_TYPE } from './response.ts';

/** Node's error codes for requests that it cannot parse, or that do not arrive whole. Every other code becomes a 400. */
const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** How long a client may take to close its side after such a response, in ms. */
const LINGER_MS = 2_000;

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
  endWith(socket, STATUS[code] ?? 400, 'This is not a whole HTTP request, or it took too long to arrive.');
  return true;
}

/** Answers a CONNECT request, of which Node leaves nothing but the socket. */
export function refuseTunnel(socket: Socket): void {
  // Nobody else listens for errors, such as a reset, or for the timeout of this socket any more.
  socket.on('error', () => {}).on('timeout', () => socket.destroy());
  endWith(socket, 400, 'This is no proxy, so it answers no CONNECT request.');
}

function endWith(socket: Socket, status: number, message: string): void {
  const body = errorBody('BAD_REQUEST', message);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${JSON_TYPE}`,
    'cache-control: no-store',
    'connection: close',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  // Destroyed at once, the socket would be reset if bytes are left unread, and the client might lose the response.
  socket.setTimeout(LINGER_MS).end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
