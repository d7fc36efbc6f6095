import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { companyDay } from './scenarios.ts';

/** The process of `npm run soak`. It ends with 0 if every promise was kept, and with 1 otherwise. */

/** The shortest run with events. */
const EVENTS_SECONDS = 120;

const { values } = parseArgs({ options: { seconds: { type: 'string' } } });
const seconds = Number(values.seconds ?? 60);
if (!(seconds >= 1 && seconds <= 86_400)) {
  process.stderr.write('--seconds N: from 1 to 86400, 60 without this\n');
  process.exit(1);
}
// Without a handler these would end this process, and not those that it has started.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

const start = performance.now();
process.stdout.write(`Node ${process.version}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}\n\n`);
try {
  const { NSS_WRAPPER: nssWrapper, REDIS_SERVER } = process.env;
  const hasEvents = seconds >= EVENTS_SECONDS;
  const missing = [!hasEvents && `${EVENTS_SECONDS} s`, !nssWrapper && 'NSS_WRAPPER', !REDIS_SERVER && 'REDIS_SERVER'];
  for (const what of missing.filter(Boolean)) process.stdout.write(`Without ${what}: its events are left out.\n`);
  const findings = await companyDay({ ms: seconds * 1_000, hasEvents, nssWrapper, hasStore: Boolean(REDIS_SERVER) });
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
