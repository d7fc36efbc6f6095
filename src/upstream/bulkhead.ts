import { DeviceTrustError } from '../errors.ts';

/** Takes a call out of the line, if it still waits there. */
export type Leave = () => void;

/**
 * Room for so many calls at once, and a line of so many more that wait for it. Ours, because whoever hangs up has to leave
 * the line at once: those of the libraries keep such a call's place until its turn has come.
 */
export class Bulkhead {
  readonly #room: number;
  readonly #places: number;
  #inFlight = 0;
  /** Those that wait, in the order in which they came. */
  readonly #line = new Set<() => void>();

  /**
   * @param room calls at once
   * @param places calls that may wait for one of those to end
   */
  constructor(room: number, places: number) {
    this.#room = room;
    this.#places = places;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#line.size;
  }

  /**
   * Makes a call as soon as there is room for it, at once if there is some.
   *
   * @param onWait told how to leave the line, if it comes to that
   * @throws DeviceTrustError OVERLOADED if the line is full, CANCELLED if the call has left it
   */
  async run<Answer>(call: () => Promise<Answer>, onWait: (leave: Leave) => void): Promise<Answer> {
    if (this.#inFlight < this.#room) this.#inFlight += 1;
    else await this.#wait(onWait);
    try {
      return await call();
    } finally {
      this.#handOver();
    }
  }

  #wait(onWait: (leave: Leave) => void): Promise<void> {
    if (this.#line.size >= this.#places) throw new DeviceTrustError('OVERLOADED');
    return new Promise((resolve, reject) => {
      this.#line.add(resolve);
      onWait(() => {
        if (this.#line.delete(resolve)) reject(new DeviceTrustError('CANCELLED'));
      });
    });
  }

  /** The room of a call that ended is the next one's at once: nobody can come in between. */
  #handOver(): void {
    const [next] = this.#line;
    if (!next) {
      this.#inFlight -= 1;
      return;
    }
    this.#line.delete(next);
    next();
  }
}
