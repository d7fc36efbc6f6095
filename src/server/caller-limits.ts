import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics } from '../observability/metrics.ts';
import { type Callers, type Holder, SharedCount, sharesOf } from '../runtime/shares.ts';

/** The part of a shared capacity that one request or connection has reserved. */
export interface Reservation {
  /** Takes this amount. Returns false, and takes nothing, if the caller's share has no room now. */
  take(amount: number): boolean;
  release(): void;
}

/** Opens an empty reservation for a caller. */
export type Reserve = (caller: Holder) => Reservation;

/** A capacity for all callers. Services may hold only their shares of it. */
export function shareCapacity(total: number, callers: Callers): Reserve {
  const held = new SharedCount();
  const shares = sharesOf(total, callers);
  return (caller) => {
    let taken = 0;
    return {
      take: (amount) => {
        if (!held.hasRoom(total, shares, caller, amount)) return false;
        taken += amount;
        held.add(caller, amount);
        return true;
      },
      release: () => {
        held.add(caller, -taken);
        taken = 0;
      },
    };
  };
}

/** The capacity for bodies, and for unread answers. A container of 512 MiB has room for both several times. */
export const MAX_BYTES_IN_FLIGHT = 64 * 1024 * 1024;

/** Releases an answer's reservation once the client has read the whole answer, or has disconnected. */
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
  // Node 22 emits no `close` for an answer that waits behind another answer on its connection.
  for (const emitter of [answer, socket]) emitter.once('close', end);
}

/** From this fraction of the limit on, a new connection evicts the oldest connection without an operation. */
const CROWDED = 0.9;

/** Limits the open connections. The result claims a connection for its first caller; false if that caller holds too many. */
export function limitConnections(
  server: Server,
  limit: number,
  callers: Callers,
  metrics?: Pick<Metrics, 'recordEviction'>,
): (socket: Socket, caller: Holder) => boolean {
  const reserve = shareCapacity(limit, callers);
  let open = 0;
  /** The open connections without an operation, the oldest first. */
  const withoutOperation = new Set<Socket>();
  const crowdedAt = Math.min(Math.floor(limit * CROWDED), limit - 1);
  server.maxConnections = limit;
  server.on('connection', (socket: Socket) => {
    const [oldest] = withoutOperation;
    if (oldest && open >= crowdedAt) {
      withoutOperation.delete(oldest);
      oldest.destroy();
      metrics?.recordEviction();
    }
    open += 1;
    // Each unread answer adds a listener.
    socket.setMaxListeners(0);
    withoutOperation.add(socket);
    socket.once('close', () => {
      open -= 1;
      withoutOperation.delete(socket);
    });
  });
  return (socket, caller) => {
    if (!withoutOperation.has(socket)) return true;
    const reservation = reserve(caller);
    if (!reservation.take(1)) return false;
    withoutOperation.delete(socket);
    socket.once('close', reservation.release);
    return true;
  };
}
