import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client may take to close its side after the last response, in ms. */
const LINGER_MS = 2_000;

/** A connection ends with the response that has `connection: close`. Nothing beyond its request is read. */
export interface Connection {
  /** When the connection is old enough to end, on the clock of `performance.now()`. */
  readonly endsAt: number;
  /** The number of requests without a whole response. */
  unanswered: number;
  /** The characters in the heads of requests that wait behind another one. */
  pipelined: number;
  /** The response to the latest request. */
  latest?: ServerResponse;
  /** Has Node's parser stopped? */
  isStopped: boolean;
}

/** Node's parser of a socket, which Node does not document. It calls `onIncoming` after the head of each request. */
interface Parser {
  incoming: IncomingMessage | null;
  onIncoming: (request: IncomingMessage & { readonly upgrade: boolean }, isKept: boolean) => number;
}

/**
 * Stops Node's parser after the head of the last request, or after its body if somebody reads it. Otherwise it would make
 * 2,400 requests of the 64 KiB that Node reads at once, before anything else in the process runs. Call this on a new socket.
 */
export function parseUntilLast(socket: Socket, connection: Readonly<Connection>): void {
  // Node's own listener, which comes first, has set the property.
  const { parser } = socket as Socket & { readonly parser: Parser };
  const { onIncoming } = parser;
  const isOver = () => !socket.writable || isLast(connection.latest);
  parser.onIncoming = (request, isKept) => {
    const { upgrade } = request;
    if (!isOver()) {
      const result = onIncoming(request, isKept);
      // A reader of the body has started by now. An unread body ends its connection with the response.
      if (request.listenerCount('data') > 0 || !(isOver() || hasBody(request))) return result;
    }
    // If the request asks for an upgrade, Node would destroy the socket without reporting the error.
    parser.incoming = null;
    if (upgrade) socket.pause().on('resume', () => socket.pause());
    // The parser returns this error for all further bytes, and Node reports it with the code below.
    return -1;
  };
}

/** Is this error about bytes after the last request? It needs no answer, and the second one ends the reading. */
export function isBeyondLast(code: string | undefined, socket: Socket, connection: Connection): boolean {
  const { latest, isStopped } = connection;
  const isWhole = isLast(latest) && latest?.req.complete;
  if (!isStopped && !isWhole && code !== 'HPE_CB_HEADERS_COMPLETE') return false;
  // The first one does not, because only reading shows that a client disconnects.
  if (isStopped) socket.pause();
  connection.isStopped = true;
  return true;
}

/** Does a body follow the head of this request? */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

const isLast = (response?: ServerResponse) => response?.getHeader('connection') === 'close';

/**
 * Closes our side of a connection, and 2 s later the other, unless the client does. To destroy a socket with unread bytes at once
 * would reset it, and the client might lose the response (RFC 9112, section 9.6).
 */
export function closeSide(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer)).end();
}
