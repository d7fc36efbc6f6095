import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCollector } from '../bench/collector.ts';
import { median } from '../bench/statistics.ts';
import { freePort } from '../support/ports.ts';
import { atLeast, atMost, type Finding, type Scenario, shown } from './findings.ts';
import { describeOutcomes, goodPart, slope } from './samples.ts';
import { epochMs } from './upstream-commands.ts';

/** What a server needs under a load that it can serve without end. */

const RATE = 150;
const CONNECTIONS = 64;
const LANES = 16;
const MEBIBYTE = 1024 * 1024;
/** Sockets to the upstream come and go. */
const FEW = 4;
const GROWTH_PERCENT = 2;
/** Over a shorter time, in ms, a slope shows noise: half a MiB between two collections would be several % a minute. */
const ENOUGH_FOR_A_LINE = 60_000;

interface Look {
  readonly at: number;
  readonly heap: number;
  readonly resident: number;
  readonly descriptors: number;
}

export const memory: Scenario = async (field, size) => {
  const port = await freePort();
  const server = await field.serve({}, [`--inspect=127.0.0.1:${port}`, '--inspect-publish-uid=http']);
  const collector = await openCollector(port);
  // Until the heap has grown to its final size and V8 has compiled everything.
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
    await collector.collect();
    const metrics = await server.metrics();
    const read = (name: string) => metrics.get(name) ?? Number.NaN;
    looks.push({
      at: epochMs(),
      heap: read('nodejs_heap_size_used_bytes'),
      resident: read('process_resident_memory_bytes'),
      descriptors: descriptorsOf(server.pid),
    });
    await sleep(size.betweenCollections);
  }
  await collector.close();
  const { EU, captcha } = await load;
  const samples = [...EU, ...captcha];
  const settled = looks.filter(({ at }) => at >= start + size.steady / 3);
  return [
    atLeast('steady load: right answers', 99.9, goodPart(samples) * 100, ' %', describeOutcomes(samples)),
    ...(size.steady < ENOUGH_FOR_A_LINE ? [] : [growth(settled)]),
    ...(Number.isNaN(settled[0]?.descriptors) ? [] : [flat(settled)]),
  ];
};

/** The slope of the heap after each collection, as a part of its median. */
function growth(looks: readonly Look[]): Finding {
  const heap = looks.map((look) => look.heap);
  const minutes = looks.map(({ at }) => at / 60_000);
  const perMinute = slope(minutes, heap) / median(heap);
  const range = (values: readonly number[]) =>
    `${shown(Math.min(...values) / MEBIBYTE)} to ${shown(Math.max(...values) / MEBIBYTE)} MiB`;
  return atMost(
    `steady load: line through the heap after ${looks.length} full collections, last two thirds`,
    GROWTH_PERCENT,
    perMinute * 100,
    ' %/min',
    `heap ${range(heap)}, resident ${range(looks.map(({ resident }) => resident))}`,
  );
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
