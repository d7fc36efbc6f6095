import { DeviceTrustError } from '../errors.ts';

type Operation = { readonly caller: string };
type Waiting = PromiseWithResolvers<void> & { readonly operation: Operation };
/** The queued calls of each operation of a caller, in the order of turns. */
type Queues = Map<Operation, Set<Waiting>>;

/** Limits concurrent calls. Waiting calls are served round-robin: by caller, then by operation. */
export class Bulkhead {
  readonly maxInFlight: number;
  readonly #maxQueue: number;
  #inFlight = 0;
  #queued = 0;
  /** By caller, in the order of turns. */
  readonly #callers = new Map<string, Queues>();

  /** @param maxQueue by default `maxInFlight`: a queued call then waits for about one other call, so it can meet its deadline */
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

  /** Would the first call of an operation be refused, or evict another call? */
  get isFull(): boolean {
    return this.#inFlight >= this.maxInFlight && this.#queued >= this.#maxQueue;
  }

  /** Admits a call if it need not wait. End it with `release`. */
  tryEnter(): boolean {
    if (this.#inFlight >= this.maxInFlight) return false;
    this.#inFlight += 1;
    return true;
  }

  /** Waits until the call may run, or `signal` removes it; see `release`. @throws OVERLOADED if the queue is full */
  async wait(operation: Operation, signal: AbortSignal): Promise<void> {
    if (this.#queued >= this.#maxQueue && !this.#makeRoomFor(operation))
      throw new DeviceTrustError('OVERLOADED', { internal: 'the queue is full' });
    const waiting = { ...Promise.withResolvers<void>(), operation };
    const queues: Queues = this.#callers.get(operation.caller) ?? new Map();
    this.#callers.set(operation.caller, queues.set(operation, (queues.get(operation) ?? new Set()).add(waiting)));
    this.#queued += 1;
    const leave = () => {
      if (this.#remove(waiting)) waiting.reject(signal.reason);
    };
    signal.addEventListener('abort', leave);
    try {
      await waiting.promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Ends a call. A queued call takes its place, with `#inFlight` unchanged, so that no newer call can overtake it. */
  release(): void {
    const [queues] = this.#callers.values();
    const [queue] = queues?.values() ?? [];
    const [next] = queue ?? [];
    if (!queues || !queue || !next) {
      this.#inFlight -= 1;
      return;
    }
    // The caller and the operation go to the end: callers take turns, and so do the operations of a caller.
    moveToEnd(this.#callers, next.operation.caller, queues);
    moveToEnd(queues, next.operation, queue);
    this.#remove(next);
    // From the next event-loop turn on, undici can reuse the socket of the ended call. Before, it would open another socket.
    setImmediate(next.resolve);
  }

  /** Drops the newest call of the busiest caller, or else of this caller's busiest operation, if that has more queued calls. */
  #makeRoomFor(operation: Operation): boolean {
    const sizeOf = (queues: Queues) => [...queues.values()].reduce((sum, { size }) => sum + size, 0);
    const own: Queues = this.#callers.get(operation.caller) ?? new Map();
    const [busiest = own] = [...this.#callers.values()].sort((a, b) => sizeOf(b) - sizeOf(a));
    // With a difference of one, the two would only swap places.
    const isOther = sizeOf(busiest) > sizeOf(own) + 1;
    const largest = [...(isOther ? busiest : own).values()].sort((a, b) => a.size - b.size).at(-1);
    const newest = [...(largest ?? [])].at(-1);
    const sizeToExceed = isOther ? 0 : (own.get(operation)?.size ?? 0) + 1;
    if (!largest || !newest || largest.size <= sizeToExceed) return false;
    this.#remove(newest);
    const internal = 'the queue is full, and this caller or operation has most of it';
    newest.reject(new DeviceTrustError('OVERLOADED', { internal }));
    return true;
  }

  /** @returns whether the call was still in the queue */
  #remove(call: Waiting): boolean {
    const { operation } = call;
    const queues = this.#callers.get(operation.caller);
    const queue = queues?.get(operation);
    if (!queues || !queue?.delete(call)) return false;
    if (queue.size === 0) queues.delete(operation);
    if (queues.size === 0) this.#callers.delete(operation.caller);
    this.#queued -= 1;
    return true;
  }
}

function moveToEnd<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
}
