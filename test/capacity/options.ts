import { parseArgs } from 'node:util';
import { type Load, PLANNED } from './capacity.ts';
import type { Size } from './measure.ts';

/** What the command line asks for. */
export interface Options {
  /** Prints the table of the page, and nothing else. */
  readonly table: boolean;
  /** The load to plan for. Without one, one replica is measured. */
  readonly load: Load | undefined;
  /** Of the upstream, in ms. */
  readonly latencies: readonly number[];
  readonly size: Size;
  /** Where to write what was measured as JSON. */
  readonly json: string | undefined;
}

export const USAGE = `Options:
  --rate N           requests a second: prints what they need, and measures nothing
  --latency MS,MS    latencies of the upstream in ms (150,300,1000)
  --calls N          upstream calls of a request (1)
  --table            prints the rows of the table in deploy/README.md, and measures nothing
  --smoke            seconds, from the sources, with a small limit: shows that it works, no more
  --json FILE        what was measured as JSON as well
`;

const FULL: Size = {
  main: 'dist/server/main.js',
  maxInFlight: PLANNED.maxInFlight,
  warmUpMs: 6_000,
  settleMs: 2_000,
  windowMs: 6_000,
  sampleMs: 1_000,
};
/** A limit that a busy machine reaches as well. */
const SMOKE: Size = {
  main: 'src/main.ts',
  maxInFlight: 16,
  warmUpMs: 500,
  settleMs: 500,
  windowMs: 1_500,
  sampleMs: 200,
};

/** Reads the command line. Throws an Error that says what is wrong with it. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rate: { type: 'string' },
      latency: { type: 'string' },
      calls: { type: 'string', default: '1' },
      table: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  const { table, rate, latency = values.smoke ? '100' : '150,300,1000', calls, smoke, json } = values;
  const latencies = latency.split(',').map((text) => positive('latency', text));
  const [latencyMs = Number.NaN, ...others] = latencies;
  if (rate !== undefined && others.length > 0) throw new Error('--rate: expected one --latency');
  const load = rate === undefined ? undefined : { requestsPerSecond: positive('rate', rate), latencyMs };
  return {
    table,
    load: load && { ...load, callsPerRequest: positive('calls', calls) },
    latencies,
    size: smoke ? SMOKE : FULL,
    json,
  };
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value < 1e9) return value;
  throw new Error(`--${option}: expected a number above 0, but got ${text}`);
}
