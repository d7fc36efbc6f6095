import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics } from '../observability/metrics.ts';

/** From this part of the limit on, a new connection replaces the oldest one without an operation. */
const CROWDED = 0.9;

/**
 * The open connections of a server. Those that have brought an operation of a caller that may ask stay. All others can be
 * held by anyone who reaches the port, so they are closed first: clients that open connections without end close their own.
 */
export class Connections {
  readonly #open = new Set<Socket>();
  /** Those of them that have brought no operation. The oldest is the first. */
  readonly #withoutOperation = new Set<Socket>();
  readonly #metrics: Pick<Metrics, 'recordEviction'> | undefined;

  constructor(server: Server, limit: number, metrics: Pick<Metrics, 'recordEviction'> | undefined) {
    this.#metrics = metrics;
    const crowdedAt = Math.min(Math.floor(limit * CROWDED), limit - 1);
    server.maxConnections = limit;
    server.on('connection', (socket: Socket) => {
      if (this.#open.size >= crowdedAt) this.#closeOldest();
      this.#open.add(socket);
      this.#withoutOperation.add(socket);
      socket.once('close', () => this.#remove(socket));
    });
  }

  /** Records that this connection has brought an operation of a caller that may ask. */
  recordOperation(socket: Socket): void {
    this.#withoutOperation.delete(socket);
  }

  #closeOldest(): void {
    const [oldest] = this.#withoutOperation;
    if (!oldest) return;
    this.#remove(oldest);
    oldest.destroy();
    this.#metrics?.recordEviction();
  }

  #remove(socket: Socket): void {
    this.#open.delete(socket);
    this.#withoutOperation.delete(socket);
  }
}

/**
 * How many bytes the bodies of all requests together may have, from their first byte until their operation has ended. What is
 * made of a body, such as its variables, takes memory that long, while upstreams are asked. A container of 512 MiB has space
 * for this several times over, and no usual load comes near it: 4,096 requests with 16 KiB each.
 */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** What the body of one request holds of the budget. */
export interface BodyReservation {
  /** Takes this many bytes more. False, and nothing is taken, if the budget has not so many left. */
  take(bytes: number): boolean;
  /** Gives everything back, whatever became of the request. */
  release(): void;
}

/** Bounds the bodies that are in memory at once. */
export class BodyBudget {
  #left = MAX_BODY_BYTES;

  open(): BodyReservation {
    let taken = 0;
    return {
      take: (bytes) => {
        if (bytes > this.#left) return false;
        this.#left -= bytes;
        taken += bytes;
        return true;
      },
      release: () => {
        this.#left += taken;
        taken = 0;
      },
    };
  }
}
