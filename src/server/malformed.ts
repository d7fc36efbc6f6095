import type { Socket } from 'node:net';
import { STATUS_CODES } from '../runtime/http.ts';
import { errorBody, JSON_TYPE } from './response.ts';

/** What Node calls a request that it cannot even parse, or that does not come to an end; anything else is a 400. */
const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers what never became a request, as everything else is answered: JSON, not to be stored. Then closes the socket.
 * False if there was nobody to answer.
 */
export function refuseMalformed({ code = '' }: NodeJS.ErrnoException, socket: Socket): boolean {
  // Behind an answer that is under way, or to somebody who is gone, there is nothing to be said.
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
