import type { ServerResponse } from 'node:http';
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
