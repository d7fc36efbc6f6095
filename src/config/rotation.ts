import type { Config } from './config.ts';
import { ConfigError } from './parser.ts';

/** What a process does while its secrets change under it. */
interface Options {
  /** Reads the configuration again, files included. Throws a ConfigError if it is not right. */
  readonly read: () => Config;
  readonly everyMs: number;
  readonly onChange: (config: Config) => void;
  /** The new configuration is not right: once for each time it changes, so that a log does not fill up. */
  readonly onProblems: (problems: readonly string[]) => void;
}

/**
 * Looks at the configuration again and again: only what is in files can have changed. Looking beats being told here,
 * because a mounted secret changes by a link that is put in another's place, which file events miss.
 */
export function watchConfig(first: Config, { read, everyMs, onChange, onProblems }: Options): void {
  let seen = JSON.stringify(first);
  const look = () => {
    const [now, act] = attempt();
    if (now === seen) return;
    seen = now;
    act();
  };
  function attempt(): readonly [seen: string, act: () => void] {
    try {
      const config = read();
      return [JSON.stringify(config), () => onChange(config)];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return [error.message, () => onProblems(error.problems)];
    }
  }
  setInterval(look, everyMs).unref();
}
