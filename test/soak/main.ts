import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { bot, type Finding, outage } from './scenarios.ts';

/** The process of `npm run soak`. It ends with 0 if every promise was kept, and with 1 otherwise. */

const options = { seconds: { type: 'string' }, short: { type: 'boolean' } } as const;
const { values, positionals: named } = parseArgs({ options, allowPositionals: true });
const { seconds: given, short = false } = values;
const seconds = Number(given ?? (short ? 4 : 60));
const situations = {
  bot: () => bot(seconds * 1_000),
  outage: () => outage(short ? 5_000 : 10_000),
};
if (!(seconds >= 1 && seconds <= 86_400) || named.some((name) => !(name in situations))) {
  process.stderr.write(
    'bot, outage: only these; --seconds N: the bot takes 1 to 86400 s, 60 without this; --short: a few seconds of both\n',
  );
  process.exit(1);
}
// Without a handler these would end this process, and not those that it has started.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

const start = performance.now();
process.stdout.write(`Node ${process.version}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}\n\n`);
try {
  const findings: Finding[] = [];
  for (const [name, run] of Object.entries(situations))
    if (named.length === 0 || named.includes(name)) findings.push(...(await run()));
  for (const { promise, promised, measured, kept } of findings)
    process.stdout.write(`${kept ? 'kept  ' : 'BROKEN'}  ${promise}: ${promised}; measured ${measured}\n`);
  const broken = findings.filter(({ kept }) => !kept).length;
  const took = Math.round((performance.now() - start) / 1_000);
  const verdict = broken === 0 ? 'Every promise was kept' : `${broken} promises were broken`;
  process.stdout.write(`\n${verdict}, in ${took} s.\n`);
  if (broken > 0) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`The soak failed: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  process.exit();
}
