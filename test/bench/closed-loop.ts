import type { LoadJob, Round } from './load-job.ts';
import { type Random, shuffled } from './random.ts';
import type { Size } from './sizes.ts';
import { type Estimate, estimate, median } from './statistics.ts';
import { jobFor, type Running, type Testbed } from './testbed.ts';
import { workloadNamed } from './workloads.ts';

/** What is measured in turns with others: a contender that is asked one workload. */
export interface Series {
  readonly running: Running;
  readonly workload: string;
}

/** What a contender needs for a request when it has as much to do as it can. Medians over the rounds. */
export interface Cost {
  readonly cpuMicros: Estimate;
  /** The CPU of a request in each round. */
  readonly rounds: readonly number[];
  /** Requests per second. */
  readonly rate: number;
  /** In ms. */
  readonly p50: number;
  readonly p99: number;
  /** How much of one core it used: far below 1, something else was the bottleneck. */
  readonly busy: number;
  /** How long its threads were ready to run without a core, as a part of the time: much of it, and latencies say little. */
  readonly waited: number;
}

/** Costs by the name of the series: that of the contender and that of the workload, with a space between them. */
export type Costs = Readonly<Record<string, Cost>>;

/**
 * Measures several series in rounds. Each round measures each of them once, in an order of its own, so that neither other load on the
 * machine nor what came before favours one of them. Rejects if anyone answers wrongly.
 */
export async function measureClosed(
  testbed: Testbed,
  series: readonly Series[],
  size: Size,
  random: Random,
): Promise<Costs> {
  const jobs = new Map<string, LoadJob>();
  for (const { running, workload } of series) {
    const { primeRequests = 0 } = workloadNamed(workload);
    const job = { ...(await jobFor(running, workload)), warmUpMs: size.rewarmMs, ms: size.roundMs };
    jobs.set(`${running.name} ${workload}`, job);
    if (size.warmUpMs > 0) await prime(testbed, { ...job, warmUpMs: 0, ms: size.warmUpMs }, primeRequests);
  }
  const rounds = new Map<string, Round[]>([...jobs.keys()].map((name) => [name, []]));
  for (let round = 0; round < size.rounds; round += 1) {
    for (const [name, job] of shuffled([...jobs], random)) rounds.get(name)?.push(await testbed.load(job));
  }
  return Object.fromEntries([...rounds].map(([name, measured]) => [name, costOf(measured)]));
}

/** Load that is not measured, until it had this many requests. */
async function prime(testbed: Testbed, job: LoadJob, requests: number): Promise<void> {
  let sent = 0;
  do sent += (await testbed.load(job)).requests;
  while (sent < requests);
}

/** Medians of what the rounds showed. */
export function costOf(rounds: readonly Round[]): Cost {
  const cpu = rounds.map(({ cpuMicros, requests }) => cpuMicros / requests);
  return {
    cpuMicros: estimate(cpu),
    rounds: cpu,
    rate: median(rounds.map(({ requests, seconds }) => requests / seconds)),
    p50: median(rounds.map(({ p50 }) => p50)),
    p99: median(rounds.map(({ p99 }) => p99)),
    busy: median(rounds.map(({ cpuMicros, seconds }) => cpuMicros / 1e6 / seconds)),
    waited: waitedIn(rounds),
  };
}

/** How long threads waited for a core, as a part of the time: the median over the rounds. */
export function waitedIn(rounds: readonly Round[]): number {
  return median(rounds.map(({ waitedMicros, seconds }) => (waitedMicros ?? Number.NaN) / 1e6 / seconds));
}

/**
 * CPU of one to CPU of another, round by round, so that other load on the machine affects both alike. Undefined if one is
 * missing.
 */
export function ratioOf(one: Cost | undefined, other: Cost | undefined): Estimate | undefined {
  return paired(one, other, (a, b) => a / b);
}

/** What one needs more than another, in µs, round by round. Undefined if one is missing. */
export function differenceOf(one: Cost | undefined, other: Cost | undefined): Estimate | undefined {
  return paired(one, other, (a, b) => a - b);
}

function paired(one: Cost | undefined, other: Cost | undefined, compare: (a: number, b: number) => number) {
  if (!one || !other) return undefined;
  return estimate(one.rounds.map((cpu, round) => compare(cpu, other.rounds[round] ?? Number.NaN)));
}
