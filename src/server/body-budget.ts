/**
 * How many bytes the bodies of all requests together may have, from their first byte until their operation has ended. What is
 * made of a body, such as its variables, takes memory that long, while upstreams are asked. A container of 512 MiB has space
 * for this several times over, and no usual load comes near it: 4,096 requests with 16 KiB each.
 */
const MAX_BYTES = 64 * 1024 * 1024;

/** What one request holds of the budget. */
export interface BodyShare {
  /** Takes this many bytes more. False, and nothing is taken, if the budget has not so many left. */
  take(bytes: number): boolean;
  /** Gives everything back. Whoever opened the share calls it once, whatever becomes of the request. */
  release(): void;
}

/** Bounds the bodies that are in memory at once. */
export class BodyBudget {
  #left = MAX_BYTES;

  open(): BodyShare {
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
