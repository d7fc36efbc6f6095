import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** By which part of it the age at which a connection ends is earlier or later, so that many do not end at the same time. */
const JITTER = 0.2;
/** How many requests may still come before the last response is sent. A client that never waits would have no last one. */
const MAX_MORE = 100;

/**
 * Which response is the last one of its connection. A router keeps its connections, and would never use a replica that was
 * added later; so each ends at an age of its own, and all of them while the server drains.
 *
 * Only a response ends a connection, with `Connection: close`. One that is closed while it is idle could have a request on its
 * way, which nobody may repeat. So an idle connection is left to the time-out that its last response has announced.
 */
export class ConnectionEnds {
  /** When each connection is old enough, on the clock of `performance.now()`. */
  readonly #dueAt = new WeakMap<Socket, number>();
  /** The last response of each connection that ends, as far as it is known. */
  readonly #last = new WeakMap<Socket, { readonly response: ServerResponse; readonly more: number }>();
  readonly #isDraining: () => boolean;

  /** @param maxAgeMs how old a connection may be, in ms; with 0 age ends none */
  constructor(server: Server, maxAgeMs: number, isDraining: () => boolean) {
    this.#isDraining = isDraining;
    if (maxAgeMs === 0) return;
    server.on('connection', (socket: Socket) => {
      const factor = 1 + JITTER * (2 * Math.random() - 1);
      this.#dueAt.set(socket, performance.now() + maxAgeMs * factor);
    });
  }

  /**
   * Lets the response to a new request end its connection, if that is due.
   *
   * @returns false if an earlier response has already announced the end: then the request must not be processed (RFC 9112,
   *   section 9.6), and its client sees that it was not
   */
  mayAnswer(socket: Socket, response: ServerResponse): boolean {
    if (performance.now() < (this.#dueAt.get(socket) ?? Number.POSITIVE_INFINITY) && !this.#isDraining()) return true;
    const previous = this.#last.get(socket);
    const more = previous ? previous.more + 1 : 0;
    if (previous?.response.headersSent || more > MAX_MORE) return false;
    // This request came before the previous one was answered, so that response is not the last one any more.
    previous?.response.setHeader('connection', 'keep-alive');
    response.setHeader('connection', 'close');
    this.#last.set(socket, { response, more });
    return true;
  }
}
