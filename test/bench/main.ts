import { writeFileSync } from 'node:fs';
import { createChildren } from './children.ts';
import { readCommandLine } from './command-line.ts';
import { compare } from './compare.ts';
import { checkBuiltUndici } from './environment.ts';
import { goalsFor } from './goals.ts';
import { markdown } from './markdown.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { choosePlacement } from './placement.ts';
import { profileOurs } from './profile.ts';
import { report } from './report.ts';
import { searchWorst } from './search/worst-request.ts';
import { measureSteady, reportSteady } from './steady.ts';
import { openTestbed } from './testbed.ts';

/**
 * The process of `npm run bench`. It ends with 0 whatever the figures are, and with 1 if a contender answered wrongly: the
 * cost of a wrong answer means nothing.
 */

const placement = choosePlacement();
const children = createChildren(placement, process.env['PATH'] ?? '');
let interrupted = false;

async function run(options: Options): Promise<void> {
  const { mode, size } = options;
  if (size !== 'smoke') checkBuiltUndici();
  const testbed = await openTestbed(children, size === 'smoke');
  const say = (step: string) => void process.stderr.write(`${step}\n`);
  const show = (text: string, results: object) => {
    process.stdout.write(text);
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
  };
  if (mode === 'profile') {
    process.stdout.write(await profileOurs(testbed, options));
  } else if (mode === 'steady') {
    const steady = await measureSteady(testbed, options.minutes, say);
    show(reportSteady(steady), steady);
  } else if (mode === 'search') {
    const found = await searchWorst(testbed, options, say);
    show(found.report, found.found);
  } else {
    const results = await compare(testbed, options, placement.note, say);
    const goals = goalsFor(results);
    show((options.markdown ? markdown : report)(results, goals), { ...results, goals });
  }
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
