import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics } from '../observability/metrics.ts';
import { isService } from './callers.ts';

/** The part of a shared capacity that one request or connection has reserved. */
export interface Reservation {
  /** Takes this much more. False, and nothing is taken, if its caller may not hold so much at the moment. */
  take(amount: number): boolean;
  release(): void;
}

/**
 * A capacity that all callers share. Services hold half of it at most (all without a router), and one service half of
 * that, so that nobody takes it from the router, and no service from the others.
 */
export class SharedCapacity {
  readonly #total: number;
  readonly #hasRouter: () => boolean;
  readonly #heldBy = new Map<string, number>();
  #held = 0;
  #heldByServices = 0;

  constructor(total: number, hasRouter: () => boolean) {
    this.#total = total;
    this.#hasRouter = hasRouter;
  }

  /** @param caller the name of a caller, which stays the same when its secret is rotated */
  reserveFor(caller: string): Reservation {
    let taken = 0;
    return {
      take: (amount) => {
        if (!this.#hasRoom(caller, amount)) return false;
        taken += amount;
        this.#add(caller, amount);
        return true;
      },
      release: () => {
        this.#add(caller, -taken);
        taken = 0;
      },
    };
  }

  #hasRoom(caller: string, amount: number): boolean {
    if (this.#held + amount > this.#total) return false;
    if (!isService(caller)) return true;
    const ofServices = this.#hasRouter() ? this.#total / 2 : this.#total;
    const own = (this.#heldBy.get(caller) ?? 0) + amount;
    // A single connection can be all that there is.
    return this.#heldByServices + amount <= Math.max(ofServices, 1) && own <= Math.max(ofServices / 2, 1);
  }

  #add(caller: string, amount: number): void {
    this.#held += amount;
    if (isService(caller)) this.#heldByServices += amount;
    this.#heldBy.set(caller, (this.#heldBy.get(caller) ?? 0) + amount);
  }
}

/** The bytes of bodies under way, and of unread answers. A container of 512 MiB has space for both several times. */
export const BYTES_UNDER_WAY = 64 * 1024 * 1024;

/** Releases an answer's reservation once the client has read its last byte, or is gone. */
export function releaseWhenRead(answer: ServerResponse, { release }: Reservation): void {
  const { socket } = answer.req;
  if (answer.writableLength === 0 || socket.destroyed) {
    release();
    return;
  }
  const end = () => {
    release();
    socket.off('close', end);
  };
  // Node 22 closes no answer that waits behind another one of its connection.
  for (const one of [answer, socket]) one.once('close', end);
}

/** From this part of the limit on, a new connection replaces the oldest one without an operation. */
const CROWDED = 0.9;

/** The open connections. One with an operation belongs to its caller; others, open to anybody, are closed first. */
export class Connections {
  #open = 0;
  /** Those of them that belong to no caller. The oldest is the first. */
  readonly #withoutOperation = new Set<Socket>();
  readonly #ofCallers: SharedCapacity;

  constructor(server: Server, limit: number, hasRouter: () => boolean, metrics?: Pick<Metrics, 'recordEviction'>) {
    this.#ofCallers = new SharedCapacity(limit, hasRouter);
    const crowdedAt = Math.min(Math.floor(limit * CROWDED), limit - 1);
    server.maxConnections = limit;
    server.on('connection', (socket: Socket) => {
      const [oldest] = this.#withoutOperation;
      if (oldest && this.#open >= crowdedAt) {
        this.#withoutOperation.delete(oldest);
        oldest.destroy();
        metrics?.recordEviction();
      }
      this.#open += 1;
      // Each unread answer listens to it.
      socket.setMaxListeners(0);
      this.#withoutOperation.add(socket);
      socket.once('close', () => {
        this.#open -= 1;
        this.#withoutOperation.delete(socket);
      });
    });
  }

  /** Claims a connection for the caller of its first operation. False if the caller may hold no more connections. */
  claim(socket: Socket, caller: string): boolean {
    if (!this.#withoutOperation.has(socket)) return true;
    const reservation = this.#ofCallers.reserveFor(caller);
    if (!reservation.take(1)) return false;
    this.#withoutOperation.delete(socket);
    socket.once('close', reservation.release);
    return true;
  }
}
