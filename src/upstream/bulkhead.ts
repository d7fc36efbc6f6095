import { DeviceTrustError } from '../errors.ts';

interface Waiting extends PromiseWithResolvers<void> {
  /** Identifies the operation that makes the call. */
  readonly operation: object;
}

/** Limits concurrent calls. The calls that wait are served round-robin by caller. */
export class Bulkhead {
  /** As many may wait: a queued call then waits for about one other call, so it can meet its deadline. */
  readonly maxInFlight: number;
  #inFlight = 0;
  /** The queued calls of each caller, in the order of turns. */
  readonly #queues = new Map<string, Set<Waiting>>();

  constructor(maxInFlight: number) {
    this.maxInFlight = maxInFlight;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return [...this.#queues.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Would the first queued call of a caller be refused, or evict another call? */
  get isFull(): boolean {
    return this.#inFlight >= this.maxInFlight && this.queued >= this.maxInFlight;
  }

  /** Admits a call if it need not wait. End it with `release`. */
  tryEnter(): boolean {
    if (this.#inFlight >= this.maxInFlight) return false;
    this.#inFlight += 1;
    return true;
  }

  /** Waits until the call may run, or `signal` removes it; see `release`. @throws OVERLOADED if the queue is full */
  async wait(caller: string, operation: object, signal: AbortSignal): Promise<void> {
    if (this.queued >= this.maxInFlight) this.#makeRoomFor(caller, operation);
    const waiting: Waiting = { ...Promise.withResolvers<void>(), operation };
    this.#queues.set(caller, (this.#queues.get(caller) ?? new Set()).add(waiting));
    const leave = () => {
      if (this.#remove(caller, waiting)) waiting.reject(signal.reason);
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
    for (const [caller, queue] of this.#queues)
      for (const next of queue) {
        // The caller goes to the end, because callers take turns.
        this.#queues.delete(caller);
        this.#queues.set(caller, queue);
        this.#remove(caller, next);
        // From the next event-loop turn on, undici can reuse the socket of the ended call. Before, it would open another socket.
        setImmediate(next.resolve);
        return;
      }
    this.#inFlight -= 1;
  }

  /**
   * Drops the newest call of the operation with the most queued calls: an operation of the busiest caller, or of this caller if no
   * other has more. @throws OVERLOADED if the call would gain no more than it takes
   */
  #makeRoomFor(caller: string, operation: object): void {
    const overloaded = (internal: string) => new DeviceTrustError('OVERLOADED', { internal });
    const own = this.#queues.get(caller) ?? new Set();
    const [[busiest, queue] = [caller, own]] = [...this.#queues].sort(([, a], [, b]) => b.size - a.size);
    // With a difference of one, the two would only swap places.
    const [loser, calls] = queue.size > own.size + 1 ? [busiest, queue] : [caller, own];
    const byOperation = Map.groupBy(calls, (call) => call.operation);
    const [most = []] = [...byOperation.values()].reverse().sort((a, b) => b.length - a.length);
    const newest = most.at(-1);
    const isEqual = loser === caller && most.length <= (byOperation.get(operation)?.length ?? 0) + 1;
    if (!newest || isEqual) throw overloaded('the queue is full');
    this.#remove(loser, newest);
    newest.reject(overloaded('the queue is full, and this operation has most of it'));
  }

  /** @returns whether the call was still in the queue */
  #remove(caller: string, call: Waiting): boolean {
    const queue = this.#queues.get(caller);
    if (!queue?.delete(call)) return false;
    if (queue.size === 0) this.#queues.delete(caller);
    return true;
  }
}
