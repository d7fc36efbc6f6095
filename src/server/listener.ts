import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { type Callers, type Holder, shareCapacity } from '../callers/shares.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createServer, listenOn, STATUS_CODES } from '../runtime/http.ts';
import { type Connection, closeSide, isBeyondLast, parseUntilLast } from './connection.ts';
import { errorResult, JSON_TYPE } from './http.ts';

/** A request has to arrive whole within this time, in ms, so that a client that sends slowly holds no socket for longer. */
const RECEIVE_TIMEOUT_MS = 10_000;
/** How often Node checks that time, in ms. Its default of 30 s would let a connection live four times as long. */
const CHECK_INTERVAL_MS = 1_000;
/** Longer than routers keep an idle connection (usually 60 s), so that the server closes no connection while a request arrives. */
const KEEP_ALIVE_MS = 75_000;
/** Short enough that a new replica gets its share of the connections within minutes; handshakes stay rare. */
const MAX_CONNECTION_AGE_MS = 300_000;
/** The fraction by which the maximum age varies, so that connections do not all end at once. */
const JITTER = 0.2;
/** From this fraction of the limit on, a new connection evicts the oldest connection without an operation. */
const CROWDED = 0.9;
/** During a close, idle connections end after this time without any arrival, in ms. */
const SWEEP_INTERVAL_MS = 50;
/** The longest wait for a turn of the event loop without an arrival before the port closes, in ms. */
const MAX_WAIT_MS = 250;
/** How long connections that are idle stay open once requests have arrived on others, in ms. */
const MAX_SPARED_MS = 1_000;
/** The most pipelined requests of a connection. Node would accept some 2,400 at once, while all other connections wait. */
const MAX_PIPELINED = 32;
/** The most characters of their heads together, which Node keeps until they are answered. */
const MAX_PIPELINED_HEADS = 32 * 1024;
/** A request with this many headers is refused: Node drops any beyond. Unlimited, a 16 KiB head takes nine times its size. */
const MAX_HEADERS = 256;

/** Node's error codes for requests that it cannot parse, or that do not arrive whole. Every other code becomes a 400. */
const MALFORMED_STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

interface ListenerOptions {
  /** Idle connections count as well: each takes a file descriptor, which upstream calls need too. */
  readonly maxConnections: number;
  /** From about this age on a connection ends with its next response, in ms; 5 min by default. */
  readonly maxConnectionAgeMs?: number;
  readonly callers?: Callers;
  readonly metrics?: Pick<Metrics, 'recordRefusal' | 'recordEviction'>;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

/**
 * An HTTP server that bounds the number and the age of connections, so that a router uses replicas added later.
 * A connection is closed only after a response: on an idle one, a request that the client must not repeat may be on its way.
 */
export class Listener {
  readonly #server: Server;
  readonly #options: ListenerOptions;
  readonly #reserve: ReturnType<typeof shareCapacity>;
  readonly #connections = new Map<Socket, Connection>();
  /** The open connections without an operation, the oldest first. */
  readonly #withoutOperation = new Set<Socket>();
  /** The number of connections and requests so far. */
  #arrivals = 0;
  #isDraining = false;

  constructor(options: ListenerOptions) {
    const { maxConnections, callers = { hasRouter: true, services: new Map() }, metrics } = options;
    this.#options = options;
    this.#reserve = shareCapacity(maxConnections, callers);
    this.#server = createServer(
      {
        requestTimeout: RECEIVE_TIMEOUT_MS,
        headersTimeout: RECEIVE_TIMEOUT_MS,
        connectionsCheckingInterval: CHECK_INTERVAL_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        // Node's own refusal would bypass every limit here.
        requireHostHeader: false,
      },
      (request, response) => this.#receive(request, response),
    );
    this.#server.maxHeadersCount = MAX_HEADERS;
    this.#server.maxConnections = maxConnections;
    // `Expect` may be ignored (RFC 9110, section 10.1.1). Node's refusal would bypass every limit here, too.
    this.#server.on('checkExpectation', (request, response) => this.#receive(request, response));
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#refuse(error.code, socket));
    this.#server.on('drop', () => metrics?.recordRefusal('OVERLOADED'));
    this.#server.on('connection', (socket: Socket) => this.#accept(socket));
  }

  listen(host: string, port: number): Promise<string> {
    return listenOn(this.#server, host, port);
  }

  /** Claims a connection for the caller of its first operation; false if that caller holds too many. */
  claim(socket: Socket, caller: Holder): boolean {
    if (!this.#withoutOperation.has(socket)) return true;
    const reservation = this.#reserve(caller);
    if (!reservation.take(1)) return false;
    this.#withoutOperation.delete(socket);
    socket.once('close', reservation.release);
    return true;
  }

  /** From now on each connection ends with its next response. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Accepts no new connection, lets requests in flight finish for this long, in ms, and closes every socket. */
  async close(graceMs: number): Promise<void> {
    this.drain();
    if (!this.#server.listening) return;
    const startedAt = performance.now();
    // A close resets the connections that wait to be accepted, so it comes after a turn of the event loop in which nothing arrived.
    // The first wait can end in the current turn, which reads nothing more.
    await setImmediate();
    let seen = -1;
    while (seen !== this.#arrivals && performance.now() - startedAt < MAX_WAIT_MS) {
      seen = this.#arrivals;
      await setImmediate();
    }
    // Node's `close` of an HTTP server also closes idle connections at once, although a request may be on its way.
    const closed = once(NetServer.prototype.close.call(this.#server), 'close');
    // Kept-alive connections would keep the server from closing. If clients still send, idle connections stay open, but not for
    // long: a request that arrives late would be cut at the end. A pause ends nothing: on a busy machine the client may wait too.
    const sweep = setInterval(async () => {
      // Reads what has arrived while this process waited for a core.
      await setImmediate();
      const isOver = performance.now() - startedAt >= MAX_SPARED_MS;
      if (isOver || seen === this.#arrivals) this.#server.closeIdleConnections();
    }, SWEEP_INTERVAL_MS);
    const force = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(force);
  }

  #accept(socket: Socket): void {
    const { maxConnections, maxConnectionAgeMs = MAX_CONNECTION_AGE_MS, metrics } = this.#options;
    const [oldest] = this.#withoutOperation;
    if (oldest && this.#connections.size >= Math.min(Math.floor(maxConnections * CROWDED), maxConnections - 1)) {
      this.#withoutOperation.delete(oldest);
      oldest.destroy();
      metrics?.recordEviction();
    }
    this.#arrivals += 1;
    // Each unread answer adds a listener.
    socket.setMaxListeners(0);
    const endsAt = performance.now() + maxConnectionAgeMs * (1 + JITTER * (2 * Math.random() - 1));
    const connection = { endsAt, unanswered: 0, pipelined: 0, isStopped: false };
    this.#connections.set(socket, connection);
    this.#withoutOperation.add(socket);
    parseUntilLast(socket, connection);
    // Node calls this after the last response.
    socket.destroySoon = () => closeSide(socket);
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#withoutOperation.delete(socket);
    });
  }

  #receive(request: IncomingMessage, response: ServerResponse) {
    this.#arrivals += 1;
    const { socket, headers, httpVersion } = request;
    const connection = this.#connections.get(socket);
    if (!connection) return;
    if (request.rawHeaders.length >= 2 * MAX_HEADERS) return this.#refuse('HPE_HEADER_OVERFLOW', socket);
    // RFC 9112, section 3.2.
    if (httpVersion === '1.1' && headers.host === undefined) return this.#refuse(undefined, socket);
    connection.pipelined = connection.unanswered === 0 ? 0 : connection.pipelined + lengthOfHead(request);
    if (connection.unanswered > MAX_PIPELINED || connection.pipelined > MAX_PIPELINED_HEADS) {
      this.#options.metrics?.recordRefusal('OVERLOADED');
      socket.destroy();
      return;
    }
    connection.unanswered += 1;
    connection.latest = response;
    response.once('close', () => {
      connection.unanswered -= 1;
    });
    // A proxy of HTTP/1.0 may not know of `Transfer-Encoding`, and have taken the body for further requests (RFC 9112, section 6.1).
    const hasFaultyFraming = httpVersion !== '1.1' && headers['transfer-encoding'] !== undefined;
    const isOld = this.#isDraining || performance.now() >= connection.endsAt;
    if (isOld || hasFaultyFraming || !response.shouldKeepAlive) response.setHeader('connection', 'close');
    this.#options.handle(request, response);
  }

  /** Answers bytes that are not a whole HTTP request, and closes the socket. Nothing more of the socket is read or executed. */
  #refuse(code: string | undefined, socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (!connection || isBeyondLast(code, socket, connection)) return;
    socket.pause();
    const { unanswered, latest } = connection;
    // The client has disconnected, or would take this response for the earlier one that it still waits for.
    if (!socket.writable || unanswered > (latest?.req.complete === false ? 1 : 0)) {
      socket.destroy();
      return;
    }
    const status = MALFORMED_STATUS[code ?? ''] ?? 400;
    const message = 'The HTTP request is malformed or incomplete, or arrived too slowly.';
    const body = JSON.stringify(errorResult({ code: 'BAD_REQUEST', message }));
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${JSON_TYPE}\r\ncache-control: no-store`;
    socket.write(`${head}\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    closeSide(socket);
    this.#options.metrics?.recordRefusal('BAD_REQUEST');
  }
}

const lengthOfHead = ({ url = '', rawHeaders }: IncomingMessage) =>
  rawHeaders.reduce((sum, text) => sum + text.length, url.length);
