import { DeviceTrustError } from '../errors.ts';

type Waiting = PromiseWithResolvers<void>;

/** Limits the calls that run and that wait. Operations take turns in the queue, so a bot with a hundred calls starves nobody. */
export class Bulkhead {
  readonly maxInFlight: number;
  readonly #maxQueue: number;
  #inFlight = 0;
  #queued = 0;
  /** The waiting calls of each request; the request with the next turn comes first. */
  readonly #queues = new Map<object, Set<Waiting>>();

  /** @param maxQueue by default as many as may run: each of them waits for one call then, which is within its deadline */
  constructor(maxInFlight: number, maxQueue = maxInFlight) {
    this.maxInFlight = maxInFlight;
    this.#maxQueue = maxQueue;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#queued;
  }

  /** Would a call of an operation that has none be refused, or take the place of another call? */
  get isFull(): boolean {
    return this.#inFlight >= this.maxInFlight && this.#queued >= this.#maxQueue;
  }

  /** Lets a call run if it need not wait. Then it ends with `release`. */
  tryEnter(): boolean {
    if (this.#inFlight >= this.maxInFlight) return false;
    this.#inFlight += 1;
    return true;
  }

  /** Waits until the call may run, or `signal` removes it; see `release`. @throws OVERLOADED if the queue is full */
  async wait(operation: object, signal: AbortSignal): Promise<void> {
    if (this.#queued >= this.#maxQueue && !this.#makeRoomFor(operation))
      throw new DeviceTrustError('OVERLOADED', { internal: 'the queue is full' });
    const waiting = Promise.withResolvers<void>();
    const queue = this.#queues.get(operation) ?? new Set();
    this.#queues.set(operation, queue.add(waiting));
    this.#queued += 1;
    const leave = () => {
      if (this.#remove(operation, waiting)) waiting.reject(signal.reason);
    };
    signal.addEventListener('abort', leave);
    try {
      await waiting.promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Ends a call that has run. A call of the queue replaces it. `#inFlight` stays, so that no newer call can overtake it. */
  release(): void {
    const [first] = this.#queues;
    if (!first) {
      this.#inFlight -= 1;
      return;
    }
    const [operation, queue] = first;
    // The operation goes to the end, so that all of them take turns.
    this.#queues.delete(operation);
    this.#queues.set(operation, queue);
    const [next] = queue;
    if (!next) return;
    this.#remove(operation, next);
    // undici can use the socket of the call that ended from the next turn on. Before that, this call would open another one.
    setImmediate(next.resolve);
  }

  /** Drops the newest call of the operation that has most in the queue. False if the new call's own operation has as many. */
  #makeRoomFor(operation: object): boolean {
    const own = this.#queues.get(operation)?.size ?? 0;
    const [largest] = [...this.#queues].sort(([, a], [, b]) => b.size - a.size);
    // With a difference of one, the two operations would only change places.
    const newest = largest && largest[1].size > own + 1 ? [...largest[1]].at(-1) : undefined;
    if (!largest || !newest) return false;
    this.#remove(largest[0], newest);
    const internal = 'the queue is full, and this operation has most of it';
    newest.reject(new DeviceTrustError('OVERLOADED', { internal }));
    return true;
  }

  /** @returns whether the call was still in the queue */
  #remove(operation: object, call: Waiting): boolean {
    const queue = this.#queues.get(operation);
    if (!queue?.delete(call)) return false;
    if (queue.size === 0) this.#queues.delete(operation);
    this.#queued -= 1;
    return true;
  }
}
