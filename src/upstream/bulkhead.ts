import { DeviceTrustError } from '../errors.ts';

/** A call that a bulkhead admits. */
export interface Admissible {
  /** The call may run. It ends with `release`. */
  begin(): void;
  /** The call will never run. */
  refuse(error: DeviceTrustError): void;
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
  readonly #queues = new Map<object, Set<Admissible>>();

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
   * Lets a call begin, at once or when its turn in the queue has come. It is refused if the queue is full.
   *
   * @param operation the operation for which the call is made
   * @returns whether the call has to wait in the queue
   */
  admit(operation: object, call: Admissible): boolean {
    if (this.#inFlight < this.maxInFlight) {
      this.#inFlight += 1;
      call.begin();
      return false;
    }
    if (this.#queued >= this.#maxQueue && !this.#makeRoomFor(operation)) {
      call.refuse(new DeviceTrustError('OVERLOADED', { internal: 'the queue is full' }));
      return false;
    }
    const queue = this.#queues.get(operation) ?? new Set();
    this.#queues.set(operation, queue.add(call));
    this.#queued += 1;
    return true;
  }

  /**
   * Drops the newest call of the operation that has most calls in the queue.
   *
   * @returns false if the new call's own operation has as many
   */
  #makeRoomFor(operation: object): boolean {
    const own = this.#queues.get(operation)?.size ?? 0;
    const [largest] = [...this.#queues].sort(([, a], [, b]) => b.size - a.size);
    // With a difference of one, the two operations would only change places.
    const newest = largest && largest[1].size > own + 1 ? [...largest[1]].at(-1) : undefined;
    if (!largest || !newest) return false;
    this.remove(largest[0], newest);
    newest.refuse(
      new DeviceTrustError('OVERLOADED', { internal: 'the queue is full, and this operation has most of it' }),
    );
    return true;
  }

  /**
   * Removes a call from the queue.
   *
   * @returns whether it was there
   */
  remove(operation: object, call: Admissible): boolean {
    const queue = this.#queues.get(operation);
    if (!queue?.delete(call)) return false;
    if (queue.size === 0) this.#queues.delete(operation);
    this.#queued -= 1;
    return true;
  }

  /** Ends a call that has begun. A call of the queue replaces it. `#inFlight` stays, so that no newer call can overtake it. */
  release(): void {
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
      setImmediate(() => next.begin());
    }
  }
}
