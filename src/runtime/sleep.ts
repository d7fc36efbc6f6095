/** A wait that can be ended early. One at a time. */
export class Sleep {
  #end: (() => void) | undefined;

  /** Waits, without keeping the process alive. A time of 0 or less is no wait. */
  async for(ms: number): Promise<void> {
    if (ms <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#end = undefined;
  }

  /** Ends the wait, if there is one. */
  end(): void {
    this.#end?.();
  }
}
