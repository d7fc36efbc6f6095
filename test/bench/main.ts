import { writeFileSync } from 'node:fs';
import { createChildren } from './children.ts';
import { readCommandLine } from './command-line.ts';
import { compare } from './compare.ts';
import { describeEnvironment } from './environment.ts';
import { goalsFor } from './goals.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { choosePlacement } from './placement.ts';
import { profileOurs } from './profile.ts';
import { report } from './report.ts';
import { openTestbed } from './testbed.ts';

/**
 * The process of `npm run bench`. It ends with 0 whatever the figures are, and with 1 if a contender answered wrongly: the
 * cost of a wrong answer means nothing.
 */

const placement = choosePlacement();
const children = createChildren(placement, process.env['PATH'] ?? '');
let interrupted = false;

async function run(options: Options): Promise<void> {
  const { size, json, profile } = options;
  const testbed = await openTestbed(children, size === 'smoke');
  const say = (step: string) => void process.stderr.write(`${step}\n`);
  if (profile) {
    process.stdout.write(await profileOurs(testbed, options));
    return;
  }
  const results = await compare(testbed, options, describeEnvironment(placement.note, size), say);
  const goals = goalsFor(results);
  process.stdout.write(report(results, goals));
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ ...results, goals }, null, 2)}\n`);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  // Once: a second signal finds no handler and ends the process at once.
  process.once(signal, () => {
    interrupted = true;
    children.endAll().then(() => process.exit(1));
  });
}

try {
  await run(readCommandLine(parseOptions, USAGE));
} catch (error) {
  if (!interrupted) process.stderr.write(`The benchmark failed: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  await children.endAll();
}
