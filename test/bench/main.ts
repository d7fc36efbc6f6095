import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { contendersFor, OURS, serverAt } from './contenders.ts';
import { measure, tableOf } from './measure.ts';
import { chooseCores, start } from './processes.ts';
import { WORKLOADS } from './requests.ts';
import { standingTable } from './standing.ts';

/**
 * The process of `npm run bench`, and its load generator. It ends with 1 if an answer is wrong, whatever the figures are.
 * README.md has its options.
 */

/** Those that are named, or all if none of them is. */
function chosen<T extends { readonly name: string }>(all: readonly T[], only: readonly string[]): readonly T[] {
  const named = all.filter(({ name }) => only.includes(name));
  return named.length > 0 ? named : all;
}

/** A whole number that an option may have. */
function within(text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`expected a number from ${least} to ${most}, but got ${text}`);
}

async function run(): Promise<string> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '110' },
      restarts: { type: 'string', default: '3' },
      rate: { type: 'string' },
      store: { type: 'string' },
      only: { type: 'string' },
      also: { type: 'string', multiple: true, default: [] },
    },
  });
  const [seconds, restarts] = [within(values.seconds, 5, 3_600), within(values.restarts, 1, 20)];
  const rate = values.rate === undefined ? undefined : within(values.rate, 1, 5_000);
  const load = loadavg()[0]?.toFixed(1);
  const core = chooseCores();
  const upstream = (await start([join(import.meta.dirname, 'upstream.ts')], {})).url.origin;
  const all = contendersFor(upstream, values.store);
  const names = [...all, ...WORKLOADS].map(({ name }) => name);
  const only = values.only?.split(',') ?? [];
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`--only: there is no ${unknown}, but ${names}`);
  const workloads = chosen(WORKLOADS, only);
  const contenders = [...chosen(all, only), ...values.also.map((path) => serverAt(path, upstream))];
  const say = (step: string) => void process.stderr.write(`${step}\n`);
  const costs = await measure({ contenders, workloads, restarts, seconds, rate, core }, say);
  const ours = contenders.find(({ name }) => name === OURS);
  const standing = await standingTable(contenders, workloads, core);
  const machine = `Node ${process.versions.node} on ${cpus().length} cores, load ${load} before`;
  return `${tableOf(costs, ours)}\n\n${standing}\n\nMedians (and ranges) of ${restarts} starts of each server. ${machine}.\n`;
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

try {
  process.stdout.write(await run());
  process.exit(0);
} catch (error) {
  process.stderr.write(`The benchmark failed: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
