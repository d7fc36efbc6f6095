import { statSync } from 'node:fs';
import { propertiesOf } from '../runtime/json.ts';
import { ConfigError } from './parser.ts';

const INTERVAL_MS = 2_000;

/** A text that changes with the content of files, or with a link on their paths. Reading the files takes 1,000 times as long. */
export function stampOf(paths: readonly string[]): string {
  const stamps = paths.map((path) => {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
    return [ino, size, mtimeNs, ctimeNs].join();
  });
  return stamps.join(' ');
}

/**
 * Reports a change once two reads agree: a file may be half-written. Polls, because file events miss changes of mounted secrets.
 *
 * @param stamp a text that changes with the files; once it stays the same, they are read only once more
 * @param read reads the value again, files included, and throws a ConfigError if it is wrong
 * @param refuse gets the mistakes of a wrong value, once for each change, so that the log does not fill up
 */
export function watchConfig<Value>(
  first: Value,
  stamp: () => string,
  read: () => Value,
  use: (next: Value) => void,
  refuse: (problems: readonly string[]) => void,
): void {
  let reported = JSON.stringify(first);
  let lastRead = reported;
  let lastStamp = stamp();
  let isStable = false;
  let quietPolls = 0;
  const report = (state: string, act: () => void) => {
    isStable = state === lastRead;
    lastRead = state;
    if (!isStable || state === reported) return;
    reported = state;
    act();
  };
  const poll = () => {
    const now = stamp();
    quietPolls = now === lastStamp ? quietPolls + 1 : 0;
    lastStamp = now;
    // Two writes within some milliseconds can have one stamp.
    if (isStable && quietPolls > 1) return;
    let value: Value;
    try {
      value = read();
    } catch (error) {
      // Whatever a file contains, the process goes on: JSON that nests too deep is a RangeError.
      const problems =
        error instanceof ConfigError ? error.problems : [`The files cannot be read: ${propertiesOf(error)['name']}.`];
      return report(problems.join('\n'), () => refuse(problems));
    }
    report(JSON.stringify(value), () => use(value));
  };
  setInterval(poll, INTERVAL_MS).unref();
}
