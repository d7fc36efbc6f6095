import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Who runs on which core: the server under test on one of its own, everyone else on another. */
export interface Placement {
  /** What to put before a command so that it runs there; empty where cores cannot be chosen. */
  readonly server: readonly string[];
  readonly others: readonly string[];
  /** In words, for the report. */
  readonly note: string;
}

/** Pins this process beside the load, if the system has `taskset` and gives us two cores or more. */
export function choosePlacement(): Placement {
  const cores = allowedCores();
  const [first] = cores;
  const last = cores.at(-1);
  if (first === undefined || first === last) return unpinned('there is one core, or no telling how many');
  try {
    execFileSync('taskset', ['-acp', String(first), String(process.pid)], { stdio: 'ignore' });
  } catch {
    return unpinned('there is no taskset');
  }
  const on = (core: number) => ['taskset', '-c', String(core)];
  return {
    server: on(last ?? first),
    others: on(first),
    note: `pinned: the server on core ${last}, load and upstream on core ${first}`,
  };
}

function unpinned(why: string): Placement {
  return { server: [], others: [], note: `not pinned: ${why}` };
}

/** Empty where the system does not say. */
function allowedCores(): number[] {
  const path = '/proc/self/status';
  const list = existsSync(path) && /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync(path, 'utf8'))?.[1];
  return list ? coresIn(list) : [];
}

/** The numbers of a list such as `0-2,5`. */
function coresIn(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}
