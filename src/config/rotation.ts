import { ConfigError } from './parser.ts';
import type { Config } from './variables.ts';

interface Options {
  /** Reads the configuration again, files included. Throws a ConfigError if it is wrong. */
  readonly read: () => Config;
  readonly everyMs: number;
  readonly onChange: (config: Config) => void;
  /** The new configuration is wrong. Called once for each change, so that a log does not fill up. */
  readonly onProblems: (problems: readonly string[]) => void;
}

/**
 * Reads the configuration every `everyMs` ms and reports a change. Only values in files can have changed. It polls, because
 * file events miss how a mounted secret changes: one symbolic link replaces another.
 */
export function watchConfig(first: Config, { read, everyMs, onChange, onProblems }: Options): void {
  let last = JSON.stringify(first);
  const poll = () => {
    const { state, report } = readAgain();
    if (state === last) return;
    last = state;
    report();
  };
  function readAgain(): { readonly state: string; readonly report: () => void } {
    try {
      const config = read();
      return { state: JSON.stringify(config), report: () => onChange(config) };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { state: error.message, report: () => onProblems(error.problems) };
    }
  }
  setInterval(poll, everyMs).unref();
}
