import { DeviceTrustError } from '../errors.ts';

/** Removes a call from the queue; does nothing once the call has begun. */
export type Dequeue = () => void;

/**
 * Limits how many calls run at once, and how many more wait in a queue. It is our own because a call whose client has
 * disconnected must leave the queue at once. The libraries keep such a call in the queue until its turn has come.
 */
export class Bulkhead {
  readonly #maxInFlight: number;
  readonly #maxQueue: number;
  #inFlight = 0;
  /** Starts the calls that wait, oldest first. */
  readonly #queue = new Set<() => void>();

  /**
   * @param maxInFlight calls that may run at once
   * @param maxQueue calls that may wait for one of those to end
   */
  constructor(maxInFlight: number, maxQueue: number) {
    this.#maxInFlight = maxInFlight;
    this.#maxQueue = maxQueue;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /**
   * Makes a call, at once or when its turn in the queue has come.
   *
   * @param onQueued receives the function that removes the call from the queue, if the call has to wait
   * @throws DeviceTrustError OVERLOADED if the queue is full, CANCELLED if the call was removed from it
   */
  async run<Result>(call: () => Promise<Result>, onQueued: (dequeue: Dequeue) => void): Promise<Result> {
    if (this.#inFlight < this.#maxInFlight) this.#inFlight += 1;
    else await this.#wait(onQueued);
    try {
      return await call();
    } finally {
      this.#release();
    }
  }

  #wait(onQueued: (dequeue: Dequeue) => void): Promise<void> {
    if (this.#queue.size >= this.#maxQueue) throw new DeviceTrustError('OVERLOADED');
    return new Promise((resolve, reject) => {
      this.#queue.add(resolve);
      onQueued(() => {
        if (this.#queue.delete(resolve)) reject(new DeviceTrustError('CANCELLED'));
      });
    });
  }

  /** The first call of the queue replaces the one that ended. `#inFlight` stays, so that no newer call can overtake it. */
  #release(): void {
    const [next] = this.#queue;
    if (!next) {
      this.#inFlight -= 1;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}
