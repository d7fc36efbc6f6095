import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** From this part of the limit on, a new connection replaces the oldest one without an operation. */
const CROWDED = 0.9;
/** How long a connection without an operation may be idle, in ms. A client that holds many would fill the limit. */
const UNPROVEN_IDLE_MS = 5_000;
/** How much longer it is kept than it was announced, in ms, for a request that is already on its way. Node does the same. */
const IDLE_BUFFER_MS = 1_000;
/** How many requests a connection may bring of which none is an operation. */
const MAX_UNPROVEN_REQUESTS = 100;

/**
 * The open connections of a server. A connection is proven once it has brought an operation of a caller that may ask. All
 * others are held by anyone who reaches the port, so they are closed first: clients that open connections without end close
 * their own, and a proven connection stays.
 */
export class Connections {
  /** Connections without an operation and how many requests each has brought. The oldest is the first. */
  readonly #unproven = new Map<Socket, number>();
  readonly #proven = new Set<Socket>();
  readonly #crowdedAt: number;
  readonly #onEviction: () => void;

  /** @param onEviction called for each connection without an operation that is closed for a newer one */
  constructor(server: Server, limit: number, onEviction: () => void) {
    this.#onEviction = onEviction;
    this.#crowdedAt = Math.min(Math.floor(limit * CROWDED), limit - 1);
    server.maxConnections = limit;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  /** Records that this connection has brought an operation of a caller that may ask. */
  prove(socket: Socket): void {
    if (!this.#unproven.delete(socket)) return;
    // Closed before, while its request was on its way.
    if (socket.destroyed) return;
    this.#proven.add(socket);
    // An operation may take longer than an unproven connection may be idle.
    socket.setTimeout(0);
  }

  /** Limits the connection of a request that is no operation, unless it is proven. Call it before the response is sent. */
  limit(socket: Socket, response: ServerResponse): void {
    const requests = this.#unproven.get(socket);
    if (requests === undefined) return;
    this.#unproven.set(socket, requests + 1);
    if (requests + 1 >= MAX_UNPROVEN_REQUESTS) response.setHeader('connection', 'close');
    else if (!response.hasHeader('connection')) response.setHeader('keep-alive', `timeout=${UNPROVEN_IDLE_MS / 1_000}`);
    // For a client that does not read the response, and then for one that sends no other request.
    this.#limitIdleTime(socket);
    response.once('finish', () => this.#limitIdleTime(socket));
  }

  #limitIdleTime(socket: Socket): void {
    // The next request may have come already, and may have been an operation.
    if (this.#unproven.has(socket)) socket.setTimeout(UNPROVEN_IDLE_MS + IDLE_BUFFER_MS);
  }

  #add(socket: Socket): void {
    if (this.#unproven.size + this.#proven.size >= this.#crowdedAt) this.#closeOldest();
    this.#unproven.set(socket, 0);
    socket.once('close', () => this.#unproven.delete(socket) || this.#proven.delete(socket));
  }

  #closeOldest(): void {
    for (const socket of this.#unproven.keys()) {
      this.#unproven.delete(socket);
      socket.destroy();
      this.#onEviction();
      return;
    }
  }
}
