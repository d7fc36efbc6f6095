import { DeviceTrustError } from '../errors.ts';

/** Removes a call from the queue; does nothing once the call has begun. */
export type Dequeue = () => void;

/** A call that waits. */
interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: DeviceTrustError) => void;
}

/**
 * Limits how many calls run at once, and how many more wait in a queue. Operations take turns in the queue, and a full queue
 * drops a call of the operation that has most in it. Otherwise a bot whose operations make a hundred calls each could keep
 * everybody else out.
 *
 * It is our own because a call whose client has disconnected must leave the queue at once. The libraries keep such a call in
 * the queue until its turn has come, and none of them has turns.
 */
export class Bulkhead {
  /** Calls that may run at once. */
  readonly maxInFlight: number;
  readonly #maxQueue: number;
  #inFlight = 0;
  #queued = 0;
  /** The calls that wait, for each operation; the operation whose turn is next comes first. */
  readonly #queues = new Map<object, Set<Waiting>>();

  /**
   * @param maxInFlight calls that may run at once
   * @param maxQueue calls that may wait for one of those to end
   */
  constructor(maxInFlight: number, maxQueue: number) {
    this.maxInFlight = maxInFlight;
    this.#maxQueue = maxQueue;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#queued;
  }

  /**
   * Makes a call, at once or when its turn in the queue has come.
   *
   * @param operation the operation for which the call is made
   * @param onQueued receives the function that removes the call from the queue, if the call has to wait
   * @throws DeviceTrustError OVERLOADED if the queue is full, CANCELLED if the call was removed from it
   */
  async run<Result>(
    operation: object,
    call: () => Promise<Result>,
    onQueued: (dequeue: Dequeue) => void,
  ): Promise<Result> {
    if (this.#inFlight < this.maxInFlight) this.#inFlight += 1;
    else await this.#wait(operation, onQueued);
    try {
      return await call();
    } finally {
      this.#release();
    }
  }

  #wait(operation: object, onQueued: (dequeue: Dequeue) => void): Promise<void> {
    if (this.#queued >= this.#maxQueue) this.#makeRoomFor(operation);
    return new Promise((begin, refuse) => {
      const waiting = { begin, refuse };
      const queue = this.#queues.get(operation) ?? new Set();
      this.#queues.set(operation, queue.add(waiting));
      this.#queued += 1;
      onQueued(() => {
        if (this.#remove(operation, waiting)) refuse(new DeviceTrustError('CANCELLED'));
      });
    });
  }

  /**
   * Drops the newest call of the operation that has most calls in the queue.
   *
   * @throws DeviceTrustError OVERLOADED if the new call's own operation has as many
   */
  #makeRoomFor(operation: object): void {
    const own = this.#queues.get(operation)?.size ?? 0;
    const [largest] = [...this.#queues].sort(([, a], [, b]) => b.size - a.size);
    // With a difference of one, the two operations would only change places.
    const newest = largest && largest[1].size > own + 1 ? [...largest[1]].at(-1) : undefined;
    if (!largest || !newest) throw new DeviceTrustError('OVERLOADED', { internal: 'the queue is full' });
    this.#remove(largest[0], newest);
    newest.refuse(
      new DeviceTrustError('OVERLOADED', { internal: 'the queue is full, and this operation has most of it' }),
    );
  }

  #remove(operation: object, waiting: Waiting): boolean {
    const queue = this.#queues.get(operation);
    if (!queue?.delete(waiting)) return false;
    if (queue.size === 0) this.#queues.delete(operation);
    this.#queued -= 1;
    return true;
  }

  /** A call of the queue replaces the one that ended. `#inFlight` stays, so that no newer call can overtake it. */
  #release(): void {
    const [first] = this.#queues;
    if (!first) {
      this.#inFlight -= 1;
      return;
    }
    const [operation, queue] = first;
    const [next] = queue;
    // The operation goes to the end, so that all of them take turns.
    this.#queues.delete(operation);
    if (queue.size > 1) this.#queues.set(operation, queue);
    if (next) {
      queue.delete(next);
      this.#queued -= 1;
      // undici can use the socket of the call that ended from the next turn on. Before that, this call would open another one.
      setImmediate(next.begin);
    }
  }
}
