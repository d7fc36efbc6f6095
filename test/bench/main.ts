import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { contendersFor, serverAt, startUpstream } from './contenders.ts';
import { measure, secondsFor } from './measure.ts';
import { chooseCores } from './processes.ts';
import { chart, cpuTable, otherTable, versions } from './report.ts';
import { WORKLOADS } from './requests.ts';

/**
 * The process of `npm run bench`, and its load generator. It ends with 1 if an answer is wrong, whatever the figures are.
 * README.md has its options.
 */

const [PAGE, CHART] = [join(import.meta.dirname, 'README.md'), join(import.meta.dirname, 'cpu.svg')];

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
      starts: { type: 'string', default: '3' },
      rate: { type: 'string', default: '1000' },
      store: { type: 'string' },
      only: { type: 'string', default: 'token,captcha,references' },
      also: { type: 'string', multiple: true, default: [] },
      write: { type: 'boolean', default: false },
    },
  });
  const [starts, rate] = [within(values.starts, 1, 20), within(values.rate, 1, 5_000)];
  const load = loadavg()[0]?.toFixed(1);
  const core = chooseCores();
  const upstream = (await startUpstream()).url.origin;
  const all = contendersFor(upstream, values.store);
  const names = [...all, ...WORKLOADS].map(({ name }) => name);
  const only = values.only.split(',');
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`--only: there is no ${unknown}, but ${names}`);
  const workloads = chosen(WORKLOADS, only);
  const contenders = [...chosen(all, only), ...values.also.map((path) => serverAt(path, upstream))];
  const plan = { contenders, workloads, starts, rate, core };
  const say = (step: string) => void process.stderr.write(`${step}\n`);
  say(
    `${starts} starts of ${contenders.length} servers: about ${Math.ceil(secondsFor(plan) / 60)} min on an idle machine`,
  );
  const results = await measure(plan, say);
  const tables = `${cpuTable(results, workloads)}\n\n${otherTable(results, workloads, rate)}`;
  const machine = `${versions()}, ${cpus().length} cores, load ${load} before`;
  const note = `Medians (and ranges) of ${starts} starts of each server on ${new Date().toDateString()}: ${machine}.`;
  const figures = `${tables}\n\n${note}\n`;
  if (values.write) {
    writeFileSync(CHART, chart(results, workloads));
    writeFileSync(
      PAGE,
      readFileSync(PAGE, 'utf8').replace(/(?<=<!-- figures -->\n)[\s\S]*/, () => figures),
    );
  }
  return figures;
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

try {
  process.stdout.write(await run());
  process.exit(0);
} catch (error) {
  process.stderr.write(`The benchmark failed: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
