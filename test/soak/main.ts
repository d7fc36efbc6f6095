import { writeFileSync } from 'node:fs';
import { createChildren } from '../bench/children.ts';
import { readCommandLine } from '../bench/command-line.ts';
import { describeEnvironment } from '../bench/environment.ts';
import type { Finding } from './findings.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { report } from './report.ts';
import { groupsOf, SCENARIOS } from './scenarios.ts';
import { SIZES, type Sizes } from './sizes.ts';
import { openSoakTestbed } from './testbed.ts';

/** The process of `npm run soak`. It ends with 0 if every promise was kept, and with 1 otherwise. */

/** No process is pinned to a core: nothing here is about CPU time, and on a busy machine another process may use that core. */
const placement = { server: [], others: [], note: 'not pinned' };
const children = createChildren(placement, process.env['PATH'] ?? '');
let interrupted = false;

async function run({ size: name, only, json }: Options, size: Sizes): Promise<boolean> {
  const environment = describeEnvironment(placement.note, name);
  const start = performance.now();
  const findings: Finding[] = [];
  const isFromSource = name === 'smoke';
  const runOne = async (name: string) => {
    const scenario = interrupted ? undefined : SCENARIOS[name];
    return scenario ? scenario(await openSoakTestbed(children, isFromSource), size) : [];
  };
  for (const group of groupsOf(only)) {
    process.stderr.write(`${group.join(', ')}\n`);
    const results = await Promise.all(group.map(runOne));
    findings.push(...results.flat());
    await children.endAll();
  }
  const seconds = (performance.now() - start) / 1_000;
  process.stdout.write(report(environment, findings, seconds));
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ environment, seconds, findings }, null, 2)}\n`);
  return findings.every(({ kept }) => kept);
}

async function endWith1(why: string): Promise<never> {
  interrupted = true;
  process.stderr.write(why);
  await children.endAll();
  process.exit(1);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  // Once: a second signal finds no handler and ends the process at once.
  process.once(signal, () => endWith1(''));
}

const options = readCommandLine(parseOptions, USAGE);
const sizes = SIZES[options.size];
const { botMs = sizes.bot } = options;
const limit = sizes.limit + botMs - sizes.bot;
setTimeout(() => endWith1(`The soak took longer than ${limit / 1_000} s\n`), limit).unref();
try {
  if (!(await run(options, { ...sizes, bot: botMs }))) process.exitCode = 1;
} catch (error) {
  if (!interrupted) process.stderr.write(`The soak failed: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  await children.endAll();
}
