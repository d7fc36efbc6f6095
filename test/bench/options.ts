import { parseArgs } from 'node:util';
import { CONTENDERS } from './contenders.ts';
import type { SIZES } from './sizes.ts';
import { WORKLOADS } from './workloads.ts';

/** What the command line asks for. */
export interface Options {
  readonly size: keyof typeof SIZES;
  /** Names of contenders and workloads, in their order. */
  readonly only: readonly string[];
  readonly workloads: readonly string[];
  /** Where to write the results as JSON. */
  readonly json: string | undefined;
  /** Show where our server spends its time, instead of comparing it. */
  readonly profile: boolean;
}

/** Workloads that are more than one kind of request. */
const SPECIAL_WORKLOADS = ['growth', 'latency', 'cold-start', 'memory'];
const ALL_WORKLOADS = [...Object.keys(WORKLOADS), ...SPECIAL_WORKLOADS];
const ALL_CONTENDERS = CONTENDERS.map(({ name }) => name);

/** Those that the goals cannot do without. */
const QUICK_CONTENDERS = 'ours,floor,mercurius';

export const USAGE = `Options:
  --only NAME,NAME      contenders: ${ALL_CONTENDERS.join(', ')}
  --workload NAME,NAME  workloads: ${ALL_WORKLOADS.join(', ')}
  --quick               a minute at most: fewer contenders, less exact figures
  --smoke               seconds, from the sources, two contenders and one workload: shows that it works, no more
  --json FILE           the results as JSON as well
  --profile             where our server spends its CPU time in each workload, instead of a comparison
`;

/** Reads the command line. Throws an Error that says what is wrong with it. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      workload: { type: 'string' },
      quick: { type: 'boolean' },
      smoke: { type: 'boolean' },
      json: { type: 'string' },
      profile: { type: 'boolean', default: false },
    },
  });
  const { only, workload, quick, smoke, json, profile } = values;
  return {
    size: smoke ? 'smoke' : quick ? 'quick' : 'full',
    only: choose('contender', ALL_CONTENDERS, only ?? (smoke ? 'ours,floor' : quick ? QUICK_CONTENDERS : undefined)),
    workloads: choose('workload', ALL_WORKLOADS, workload ?? (smoke || profile ? 'single' : undefined)),
    json,
    profile,
  };
}

function choose(kind: string, all: readonly string[], names: string | undefined): readonly string[] {
  if (names === undefined) return all;
  const wanted = names.split(',');
  const unknown = wanted.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`there is no ${kind} ${unknown.join(', ')}; there is ${all.join(', ')}`);
  return all.filter((name) => wanted.includes(name));
}
