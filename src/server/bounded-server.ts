import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../errors.ts';
import { createServer } from '../runtime/http.ts';
import { Connections } from './connections.ts';
import { refuseMalformed, refuseTunnel } from './malformed.ts';
import { RequestRefused } from './refusal.ts';
import { sendRefusal } from './response.ts';

/** A request has to arrive whole within this time, in ms, so that a client that sends slowly holds no socket for longer. */
const RECEIVE_TIMEOUT_MS = 10_000;
/** How often that is checked, in ms. Node's default of 30 s would let a connection live four times as long. */
const CHECK_INTERVAL_MS = 1_000;

interface Options {
  /** Idle connections count as well: each takes one of the descriptors that calls to the upstreams need too. */
  readonly maxConnections: number;
  /** How long an idle connection is kept, in ms, once its last response was sent. */
  readonly keepAliveMs: number;
  /** Counts a request, or a connection, that never gets to `handle`. */
  readonly onRefusal: (code: ErrorCode) => void;
  /** Counts a connection without an operation that is closed for a newer one. */
  readonly onEviction: () => void;
  /** Answers a request. One that expects `100-continue` waits for `continueWith` before it sends its body. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

interface BoundedServer {
  readonly server: Server;
  readonly connections: Connections;
}

/**
 * An HTTP server with bounded connections, which answers what is no valid request as it answers everything else: with JSON
 * that must not be stored. Node's own answers have neither. It does not listen yet.
 */
export function createBoundedServer({
  maxConnections,
  keepAliveMs,
  onRefusal,
  onEviction,
  handle,
}: Options): BoundedServer {
  const refuse = (response: ServerResponse, status: number, message: string) => {
    onRefusal('BAD_REQUEST');
    sendRefusal(response, new RequestRefused(status, message, { connection: 'close' }));
  };
  const receive = (request: IncomingMessage, response: ServerResponse) => {
    // RFC 9112, section 3.2. HTTP/1.0 has no such rule.
    if (request.headers.host === undefined && request.httpVersion === '1.1')
      return refuse(response, 400, 'A request of HTTP/1.1 needs a Host header.');
    handle(request, response);
  };
  const server = createServer(
    {
      requestTimeout: RECEIVE_TIMEOUT_MS,
      headersTimeout: RECEIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      keepAliveTimeout: keepAliveMs,
      requireHostHeader: false,
    },
    receive,
  );
  // Older versions of Node leave out headers beyond a number, and with them a repetition that has to be seen. Their size is
  // limited to 16 KiB in any case.
  server.maxHeadersCount = 0;
  // With a listener, the interim response is up to us: see `continueWith`.
  server.on('checkContinue', receive);
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) =>
    refuse(response, 417, 'The only expectation that can be met is 100-continue.'),
  );
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    onRefusal('BAD_REQUEST');
    refuseTunnel(socket);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (refuseMalformed(error, socket)) onRefusal('BAD_REQUEST');
  });
  server.on('drop', () => onRefusal('OVERLOADED'));
  return { server, connections: new Connections(server, maxConnections, onEviction) };
}

/**
 * Lets the client send the body, if it waits for that. Without it Node closes the connection after the response, because the
 * body may come or not (RFC 9110, section 10.1.1).
 */
export function continueWith(request: IncomingMessage, response: ServerResponse): void {
  // HTTP/1.0 has no interim responses. Node has refused every other expectation.
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue();
}
