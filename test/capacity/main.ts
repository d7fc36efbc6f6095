import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChildren } from '../bench/children.ts';
import { readCommandLine } from '../bench/command-line.ts';
import { describeEnvironment } from '../bench/environment.ts';
import { capacityFor, mostOf, PLANNED } from './capacity.ts';
import { measure, type Point } from './measure.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { describePlan, describePoints, tableRows } from './report.ts';

/** The process of `npm run capacity`. It ends with 0 if the function and the measurement agree, and with 1 otherwise. */

const placement = { server: [], others: [], note: 'not pinned' };
const children = createChildren(placement, process.env['PATH'] ?? '');
const folder = mkdtempSync(join(tmpdir(), 'device-trust-capacity-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => children.endAll().then(() => process.exit(1)));
}

async function measureAll({ latencies, size, json }: Options): Promise<boolean> {
  const environment = describeEnvironment(placement.note, size.main);
  const points: Point[] = [];
  for (const latencyMs of latencies) points.push(await measure(children, folder, latencyMs, size));
  const { text, agrees } = describePoints(environment, points);
  process.stdout.write(text);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ environment, points }, null, 2)}\n`);
  return agrees;
}

const options = readCommandLine(parseOptions, USAGE);
const { load, table } = options;
if (table) {
  process.stdout.write(tableRows());
} else if (load) {
  const capacity = capacityFor(load, PLANNED);
  process.stdout.write(describePlan(load, capacity, mostOf(capacity.replicas, load, PLANNED)));
} else {
  try {
    if (!(await measureAll(options))) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(`The measurement failed: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  } finally {
    await children.endAll();
  }
}
