import { propertiesOf } from '../runtime/json.ts';
import { ConfigError } from './parser.ts';

const INTERVAL_MS = 2_000;

/**
 * Reports a change once two reads agree: a file may be half-written. File events miss changes of mounted secrets.
 *
 * @param read reads the value again, files included, and throws a ConfigError if it is wrong
 * @param refuse gets the mistakes of a wrong value, once for each change, so that the log does not fill up
 */
export function watchConfig<Value>(
  first: Value,
  read: () => Value,
  use: (next: Value) => void,
  refuse: (problems: readonly string[]) => void,
): void {
  let reported = JSON.stringify(first);
  let lastRead = reported;
  const report = (state: string, act: () => void) => {
    const isStable = state === lastRead;
    lastRead = state;
    if (!isStable || state === reported) return;
    reported = state;
    act();
  };
  const poll = () => {
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
