import { propertiesOf } from '../runtime/json.ts';
import { ConfigError } from './parser.ts';

const INTERVAL_MS = 2_000;

interface Options<Value> {
  /** Reads the value again, files included. Throws a ConfigError if it is wrong. */
  readonly read: () => Value;
  readonly onChange: (value: Value) => void;
  /** The new value is wrong. Called once for each change, so that a log does not fill up. */
  readonly onProblems: (problems: readonly string[]) => void;
}

/** Reports a change once two reads agree: a file may be half-written. File events miss how mounted secrets change. */
export function watchConfig<Value>(first: Value, { read, onChange, onProblems }: Options<Value>): void {
  let reported = JSON.stringify(first);
  let lastRead = reported;
  const report = (state: string, act: () => void) => {
    const isFinished = state === lastRead;
    lastRead = state;
    if (!isFinished || state === reported) return;
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
      return report(problems.join('\n'), () => onProblems(problems));
    }
    report(JSON.stringify(value), () => onChange(value));
  };
  setInterval(poll, INTERVAL_MS).unref();
}
