/** Those that wait for a value, each for a limited time. */
export class Waiters<Value> {
  readonly #waiting = new Set<(value: Value) => void>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /**
   * Waits for the value.
   *
   * @param timeoutMs how long to wait at most
   * @param tooLate the value for a wait that ends before
   * @param onWait receives the function that ends the wait at once
   */
  wait(timeoutMs: number, tooLate: () => Value, onWait: (end: () => void) => void): Promise<Value> {
    return new Promise((resolve) => {
      const end = (value: Value) => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        resolve(value);
      };
      const expire = () => end(tooLate());
      const timer = setTimeout(expire, timeoutMs);
      this.#waiting.add(end);
      onWait(expire);
    });
  }

  /** Gives the value to everyone who waits. */
  settle(value: Value): void {
    for (const end of [...this.#waiting]) end(value);
  }
}
