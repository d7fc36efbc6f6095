import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../bench/statistics.ts';
import { atLeast, atMost, type Finding, type Scenario, shown } from './findings.ts';
import { goodPart, slope, tally } from './samples.ts';
import { epochMs } from './upstream-orders.ts';

/** What a server needs under load that it can bear for as long as one likes. */

const RATE = 150;
const CONNECTIONS = 64;
const LANES = 16;
const LOOKS_PER_WINDOW = 10;
const MEBIBYTE = 1024 * 1024;
/** Sockets to the upstream come and go. */
const FEW = 4;

interface Look {
  readonly at: number;
  readonly heap: number;
  /** Full collections of garbage so far. */
  readonly collections: number;
  readonly resident: number;
  readonly descriptors: number;
}

export const memory: Scenario = async (field, size) => {
  const server = await field.serve();
  // As much as it takes: the heap grows to what it will be, and V8 compiles what it will.
  const hurry = { url: server.url, ms: size.settle, connections: LANES };
  await field.load({ EU: { ...hurry, question: 'EU' }, captcha: { ...hurry, question: 'captcha' } });
  const stream = { url: server.url, ms: size.steady, connections: CONNECTIONS };
  const load = field.load({
    EU: { ...stream, question: 'EU', rate: RATE },
    captcha: { ...stream, question: 'captcha', rate: RATE },
  });
  const looks: Look[] = [];
  const start = epochMs();
  while (epochMs() - start < size.steady) {
    const metrics = await server.metrics();
    const read = (name: string) => metrics.get(name) ?? Number.NaN;
    looks.push({
      at: epochMs(),
      heap: read('nodejs_heap_size_used_bytes'),
      collections: read('nodejs_gc_duration_seconds_count{kind="major"}'),
      resident: read('process_resident_memory_bytes'),
      descriptors: descriptorsOf(server.pid),
    });
    await sleep(size.heapWindow / LOOKS_PER_WINDOW);
  }
  const { EU, captcha } = await load;
  const samples = [...EU, ...captcha];
  const settled = looks.filter(({ at }) => at >= start + size.steady / 3);
  return [
    atLeast('steady load: right answers', 99.9, goodPart(samples) * 100, ' %', tally(samples)),
    growth('heap', settled, ({ heap }) => heap, size.heapWindow, 2),
    ...(Number.isNaN(settled[0]?.descriptors) ? [] : [flat(settled)]),
  ];
};

/** Slope of the line through the smallest value of each window, as a part of their median. */
function growth(
  what: string,
  looks: readonly Look[],
  of: (look: Look) => number,
  window: number,
  limit: number,
): Finding {
  const floors = floorsOf(looks, of, window);
  const values = floors.map(of);
  const perMinute = slope(
    floors.map(({ at }) => at / 60_000),
    values,
  );
  const middle = median(values);
  const resident = looks.map((look) => look.resident / MEBIBYTE);
  return atMost(
    `steady load: ${what}, line through the floors of ${floors.length} windows of ${window / 1_000} s`,
    limit,
    (perMinute / middle) * 100,
    ' %/min',
    `floors ${values.map((value) => (value / MEBIBYTE).toFixed(1)).join(' ')} MiB; ${looks.at(-1)?.collections ?? 0} full collections; resident ${shown(Math.min(...resident))} to ${shown(Math.max(...resident))} MiB`,
  );
}

function floorsOf(looks: readonly Look[], of: (look: Look) => number, window: number): Look[] {
  const [first] = looks;
  const windows = Map.groupBy(looks, ({ at }) => Math.floor((at - (first?.at ?? 0)) / window));
  return [...windows.values()].flatMap((inside) => inside.toSorted((a, b) => of(a) - of(b)).slice(0, 1));
}

/** More at the end than in the middle of the run would be a leak. */
function flat(looks: readonly Look[]): Finding {
  const half = Math.floor(looks.length / 2);
  const middle = (part: readonly Look[]) => median(part.map(({ descriptors }) => descriptors));
  const [before, after] = [middle(looks.slice(0, half)), middle(looks.slice(half))];
  return atMost(
    'steady load: open descriptors, last third to the one before',
    FEW,
    after - before,
    '',
    `${shown(before)} before`,
  );
}

/** How many files and sockets a process has open; NaN where the system does not say. */
function descriptorsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return existsSync(folder) ? readdirSync(folder).length : Number.NaN;
}
