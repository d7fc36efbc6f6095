/** Lines of one cause that are written within a window. */
const LINES_PER_CAUSE = 10;

/** Causes that are counted apart within a window. All further ones share one count. */
const MAX_CAUSES = 100;

const WINDOW_MS = 1_000;

/** The key of all further causes. No cause is an empty text. */
const MIXED = '';

interface Count {
  seen: number;
  /** Writes how many lines were left out. */
  readonly report: (leftOut: number) => void;
}

/**
 * Limits how many lines of the same cause are written in a second, because in an outage each operation has one. About a
 * thousand lines a second are the most, whatever their causes. When the second is over, one line for each cause says how many
 * were left out.
 */
export class RepeatLimit {
  readonly #counts = new Map<string, Count>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * May this line be written?
   *
   * @param report writes how many lines of this cause were left out; `isMixed` if the lines had several causes
   */
  admits(cause: string, report: (leftOut: number, isMixed: boolean) => void): boolean {
    const isMixed = this.#counts.size >= MAX_CAUSES && !this.#counts.has(cause);
    const key = isMixed ? MIXED : cause;
    const count = this.#counts.get(key) ?? { seen: 0, report: (leftOut) => report(leftOut, isMixed) };
    count.seen += 1;
    this.#counts.set(key, count);
    // A window begins with its first line, so that a quiet process has no timer.
    this.#timer ??= setTimeout(() => this.flush(), WINDOW_MS).unref();
    return count.seen <= LINES_PER_CAUSE;
  }

  /** Ends the window, and reports what it has left out. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = [...this.#counts.values()];
    this.#counts.clear();
    for (const { seen, report } of counts) if (seen > LINES_PER_CAUSE) report(seen - LINES_PER_CAUSE);
  }
}
