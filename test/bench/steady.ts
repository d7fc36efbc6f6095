import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/ports.ts';
import { request } from '../support/requests.ts';
import { contenderNamed, FLOOR_NAME, OURS_NAME } from './contenders.ts';
import { memoryOf } from './cpu.ts';
import { directTo, mostOf } from './paced-load.ts';
import { SIZES } from './sizes.ts';
import { median } from './statistics.ts';
import { fixed, table } from './table.ts';
import { jobFor, type Testbed } from './testbed.ts';
import { startWarm } from './warm-up.ts';

/** Our server at half load for long, beside the bare proxy. */
export interface Steady {
  readonly minutes: number;
  /** Requests per second: half of what our server can bear. */
  readonly rate: number;
  /** Memory in RAM after each round, with the minute in which it was read, in MiB. */
  readonly readings: readonly (readonly [minute: number, mebibytes: number])[];
  /** How much it grew after the first minutes, in MiB: from the median of the first quarter to that of the last one. */
  readonly growth: number;
  /** What our server and the bare proxy add to the p99 of the upstream, in ms: medians of the rounds. */
  readonly addedP99: number;
  readonly floorAddedP99: number;
}

/** Long enough for 99 % to mean something, and short enough to see the upstream and the proxy at about the same time. */
const OURS_MS = 10_000;
const OTHERS_MS = 1_500;
/** As an orchestrator and Prometheus usually ask. */
const PROBE_EVERY_MS = 1_000;
const SCRAPE_EVERY_MS = 15_000;

const SETTLING_MINUTES = 5;

/** @param say called with each reading */
export async function measureSteady(
  testbed: Testbed,
  minutes: number,
  say: (reading: string) => void,
): Promise<Steady> {
  const size = SIZES.full;
  const adminPort = await freePort();
  const ours = (await startWarm(testbed, contenderNamed(OURS_NAME), size, { ADMIN_PORT: String(adminPort) })).running;
  const floor = (await startWarm(testbed, contenderNamed(FLOOR_NAME), size)).running;
  const stop = watchAsDeployed(`http://127.0.0.1:${adminPort}`);
  const rate = (await mostOf(testbed, ours, size)) / 2;
  const load = { rate, warmUpMs: 100 };
  const jobs = {
    ours: { ...load, ...(await jobFor(ours, 'slow')), ms: OURS_MS },
    floor: { ...load, ...(await jobFor(floor, 'slow')), ms: OTHERS_MS },
    direct: { ...load, ...directTo(testbed), ms: OTHERS_MS },
  };
  const start = performance.now();
  const minute = () => (performance.now() - start) / 60_000;
  const readings: [number, number][] = [];
  const added: number[] = [];
  const floorAdded: number[] = [];
  while (minute() < minutes) {
    const direct = await testbed.load(jobs.direct);
    floorAdded.push((await testbed.load(jobs.floor)).p99 - direct.p99);
    added.push((await testbed.load(jobs.ours)).p99 - direct.p99);
    const { rss } = memoryOf(ours.pid);
    readings.push([minute(), rss]);
    say(`minute ${minute().toFixed(1)}: ${rss.toFixed(1)} MiB, p99 added ${added.at(-1)?.toFixed(2)} ms`);
  }
  await stop();
  await Promise.all([ours.end(), floor.end()]);
  return {
    minutes,
    rate,
    readings,
    growth: growthOf(readings, Math.min(SETTLING_MINUTES, minutes / 3)),
    addedP99: median(added),
    floorAddedP99: median(floorAdded),
  };
}

/** From the median of the first quarter to that of the last one, of the readings after this minute. NaN of none. */
export function growthOf(readings: Steady['readings'], after: number): number {
  const values = readings.filter(([minute]) => minute >= after).map(([, mebibytes]) => mebibytes);
  const quarter = Math.ceil(values.length / 4);
  return median(values.slice(-quarter)) - median(values.slice(0, quarter));
}

/** Asks for health and metrics as a deployment does. The returned function ends it, and rejects if one answer was wrong. */
function watchAsDeployed(admin: string): () => Promise<void> {
  const isOver = new AbortController();
  const repeat = async (path: string, every: number) => {
    while (!isOver.signal.aborted) {
      const { status } = await request(admin + path);
      if (status !== 200) throw new Error(`${path}: expected 200, but got ${status}`);
      await sleep(every, undefined, { signal: isOver.signal }).catch(() => {});
    }
  };
  const watching = Promise.all([
    repeat('/healthz', PROBE_EVERY_MS),
    repeat('/readyz', PROBE_EVERY_MS),
    repeat('/metrics', SCRAPE_EVERY_MS),
  ]);
  // Its rejection is for whoever ends it.
  watching.catch(() => {});
  return async () => {
    isOver.abort();
    await watching;
  };
}

/** The result as text for a person. */
export function reportSteady({ minutes, rate, readings, growth, addedP99, floorAddedP99 }: Steady): string {
  const [first = Number.NaN, last = Number.NaN] = [readings[0]?.[1], readings.at(-1)?.[1]];
  return [
    `Steady: ${minutes} minutes at ${fixed(rate, 0)} requests a second, half of what our server can bear`,
    table(
      ['', 'measured', 'at most'],
      [
        ['memory grew after the first five minutes, MiB', fixed(growth, 2), '1'],
        ['p99 added by our server, ms', fixed(addedP99, 2), '5'],
        ['p99 added by the bare proxy, ms; above 2 the machine was too busy', fixed(floorAddedP99, 2), '2'],
        ['memory after the first and the last round, MiB', `${fixed(first, 1)}, ${fixed(last, 1)}`, ''],
      ],
    ),
    '',
  ].join('\n');
}
