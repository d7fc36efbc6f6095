import type { Contender } from './contenders.ts';
import { costOf } from './load.ts';
import { type Child, start } from './processes.ts';
import type { Workload } from './requests.ts';

/** CPU time of a request in µs, by contender and workload: the rounds of each start. */
type Costs = ReadonlyMap<Contender, ReadonlyMap<Workload, number[][]>>;

interface Plan {
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  /** How often each is started, and how long all of it takes. */
  readonly restarts: number;
  readonly seconds: number;
  /** Requests a second while it is measured; as many as the connections carry if there is none. */
  readonly rate: number | undefined;
  /** What to put before the command of a server. */
  readonly core: readonly string[];
}

/** Of each start, a part of the time for V8, which optimises what it has seen often. */
const WARM_UP_SHARE = 0.5;
/** As `npm start` and the image have them. Every server gets them. */
export const FLAGS = ['--max-semi-space-size=64', '--min-semi-space-size=64'];
/** What is measured in each round, and what is not because another server just had the core and its caches. */
const ROUND_MS = 150;
/** At a rate: long enough for timers, probes and garbage collection to have their part. */
const PACED_ROUND_MS = 1_000;
const REWARM_MS = 30;

/**
 * Starts all contenders several times. After each start it measures every contender with every workload in rounds. Each round and
 * each start has a random order, so that neither other load on the machine nor what came before favours anyone. Those that have
 * the same workload come one after the other, so that they can be compared round by round.
 *
 * @throws Error if an answer is not as it should be
 */
export async function measure(plan: Plan, say: (step: string) => void): Promise<Costs> {
  const { contenders, workloads, restarts, seconds, rate, core } = plan;
  const roundMs = rate === undefined ? ROUND_MS : PACED_ROUND_MS;
  const costs: Costs = new Map(contenders.map((one) => [one, new Map(workloads.map((workload) => [workload, []]))]));
  const begin = performance.now();
  for (let restart = 1; restart <= restarts; restart += 1) {
    const servers = new Map<Contender, Child>();
    for (const contender of shuffled(contenders)) {
      servers.set(contender, await start([...FLAGS, contender.script], contender.env, core));
    }
    const series = [...servers].flatMap(([contender, server]) =>
      workloads.map((workload) => ({ contender, server, workload, rounds: Array.of<number>() })),
    );
    const end = begin + (seconds * 1_000 * restart) / restarts;
    const warmUpMs = (Math.max(0, end - performance.now()) * WARM_UP_SHARE) / series.length;
    for (const { server, workload } of shuffled(series)) await costOf(server, workload, 0, warmUpMs);
    let round = 0;
    do {
      round += 1;
      for (const workload of shuffled(workloads)) {
        for (const one of shuffled(series.filter((other) => other.workload === workload))) {
          one.rounds.push(await costOf(one.server, workload, REWARM_MS, roundMs, rate));
        }
      }
    } while (performance.now() < end);
    say(`start ${restart} of ${restarts}: ${round} rounds after a warm-up of ${Math.round(warmUpMs)} ms each`);
    for (const { contender, workload, rounds } of series) costs.get(contender)?.get(workload)?.push(rounds);
    for (const server of servers.values()) await server.end();
  }
  return costs;
}

function shuffled<T>(values: readonly T[]): T[] {
  const placed = values.map((value) => ({ value, place: Math.random() }));
  return placed.sort((one, other) => one.place - other.place).map(({ value }) => value);
}

/** The middle value, or the mean of the two in the middle. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (place: number) => sorted[Math.floor(place)] ?? Number.NaN;
  return (at((sorted.length - 1) / 2) + at(sorted.length / 2)) / 2;
}

/** One table in Markdown: of each contender the CPU time of a request, and how many times as much ours needs. */
export function tableOf(costs: Costs, ours: Contender | undefined): string {
  const [workloads = []] = [...costs.values()].map((byWorkload) => [...byWorkload.keys()]);
  const head = ['CPU of a request', ...workloads.flatMap(({ title }) => [`${title}, µs`, 'ours to it'])];
  const rows = [...costs].map(([contender, byWorkload]) => [
    contender.title,
    ...[...byWorkload].flatMap(([workload, starts]) => {
      const own = ours && contender !== ours ? costs.get(ours)?.get(workload) : undefined;
      const ratios = own?.map((rounds, start) =>
        rounds.map((micros, round) => micros / (starts[start]?.[round] ?? NaN)),
      );
      return [spread(starts, 0), ratios ? spread(ratios, 2) : ''];
    }),
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** Median and range over the starts, each of which counts with the median of its rounds. */
function spread(starts: readonly (readonly number[])[], decimals: number): string {
  const values = starts.map(median);
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    value.toLocaleString('en', digits),
  );
  return `${middle} (${least} to ${most})`;
}
