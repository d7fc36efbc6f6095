import { parseArgs } from 'node:util';
import { CONTENDERS, WITHOUT_SCOPES_NAME } from './contenders.ts';
import { GROUPS } from './groups.ts';
import type { SIZES } from './sizes.ts';

/** What the command line asks for. */
export interface Options {
  /** Compare, show where our server spends its time, run for long, or look for the most expensive request. */
  readonly mode: 'compare' | 'profile' | 'steady' | 'search';
  readonly size: keyof typeof SIZES;
  /** Names of contenders and of what is measured, in their order. */
  readonly only: readonly string[];
  readonly workloads: readonly string[];
  /** Where to write the results as JSON. */
  readonly json: string | undefined;
  /** Print the tables of the README instead of those for a person. */
  readonly markdown: boolean;
  /** The order of the rounds and the requests of a search follow from it. */
  readonly seed: number;
  /** How long `steady` runs. */
  readonly minutes: number;
  readonly searchSeconds: number;
}

/** What is measured beside groups of requests. */
const SPECIAL_WORKLOADS = ['first-request', 'replicas', 'latency', 'cold-start', 'memory'];
const ALL_WORKLOADS = [...Object.keys(GROUPS), ...SPECIAL_WORKLOADS];
const QUICK_WORKLOADS = [
  ...Object.entries(GROUPS).flatMap(([name, { isQuick }]) => (isQuick ? [name] : [])),
  'first-request',
];
const ALL_CONTENDERS = CONTENDERS.map(({ name }) => name).filter((name) => name !== WITHOUT_SCOPES_NAME);

/** Those that the goals cannot do without. */
const QUICK_CONTENDERS = ['ours', 'floor', 'mercurius'];

export const USAGE = `Options:
  --only NAME,NAME      contenders: ${ALL_CONTENDERS.join(', ')}
  --workload NAME,NAME  what is measured: ${ALL_WORKLOADS.join(', ')}
  --quick               a minute and a half at most: fewer contenders, and only ${QUICK_WORKLOADS.join(', ')}
  --smoke               seconds, from the sources, two contenders and one workload: shows that it works, no more
  --json FILE           the results as JSON as well
  --markdown            the tables of the README instead
  --seed NUMBER         gives the order of the rounds, or the requests of a search; 1 without it
  --profile             where our server spends its CPU time in each workload, instead of a comparison
  --steady              our server at half load for 30 minutes, or for --minutes N: memory and latency
  --search              looks for the most expensive request for 120 seconds, or for --search-seconds N, and --json FILE keeps it
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
      markdown: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      profile: { type: 'boolean' },
      steady: { type: 'boolean' },
      minutes: { type: 'string', default: '30' },
      search: { type: 'boolean' },
      'search-seconds': { type: 'string', default: '120' },
    },
  });
  const { only, workload, quick, smoke, json, markdown, profile, steady, search } = values;
  const contenders = smoke ? ['ours', 'floor'] : quick ? QUICK_CONTENDERS : ALL_CONTENDERS;
  const workloads = smoke || profile ? ['single'] : quick ? QUICK_WORKLOADS : ALL_WORKLOADS;
  return {
    mode: profile ? 'profile' : steady ? 'steady' : search ? 'search' : 'compare',
    size: smoke ? 'smoke' : quick ? 'quick' : 'full',
    only: choose('contender', ALL_CONTENDERS, only) ?? contenders,
    workloads: choose('workload', ALL_WORKLOADS, workload) ?? workloads,
    json,
    markdown,
    seed: numberIn('seed', values.seed),
    minutes: numberIn('minutes', values.minutes),
    searchSeconds: numberIn('search-seconds', values['search-seconds']),
  };
}

function numberIn(name: string, text: string): number {
  if (!/^\d{1,9}(\.\d{1,3})?$/.test(text)) throw new Error(`--${name}: expected a number, but got ${text}`);
  return Number(text);
}

function choose(kind: string, all: readonly string[], names: string | undefined): readonly string[] | undefined {
  if (names === undefined) return undefined;
  const wanted = names.split(',');
  const unknown = wanted.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`there is no ${kind} ${unknown.join(', ')}; there is ${all.join(', ')}`);
  return all.filter((name) => wanted.includes(name));
}
