import type { Round } from './load-job.ts';
import type { Size } from './sizes.ts';
import { median } from './statistics.ts';
import { checkAnswers, type Running, type Testbed } from './testbed.ts';
import { workloadNamed } from './workloads.ts';

/** What a contender needs for a request when it has as much to do as it can. Medians over the rounds. */
interface Cost {
  readonly cpuMicros: number;
  /** The same of each round. */
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

/** Cost by contender. */
export type Costs = Readonly<Record<string, Cost>>;

/** Measures a workload in alternating rounds: A B C, A B C, and so on. Rejects if anyone answers wrongly. */
export async function measureClosed(
  testbed: Testbed,
  contenders: readonly Running[],
  workload: string,
  size: Size,
): Promise<Costs> {
  const { connections } = workloadNamed(workload);
  const jobs = new Map<string, Parameters<Testbed['load']>[0]>();
  for (const contender of contenders) {
    const { url, headers, pid } = contender;
    const answerBytes = await checkAnswers(contender, workload);
    const job = { url, headers, pid, workload, answerBytes, connections, warmUpMs: size.rewarmMs, ms: size.roundMs };
    jobs.set(contender.name, job);
    if (size.warmUpMs > 0) await testbed.load({ ...job, warmUpMs: 0, ms: size.warmUpMs });
  }
  const rounds = new Map<string, Round[]>();
  for (let round = 0; round < size.rounds; round += 1) {
    for (const [name, job] of jobs) rounds.set(name, [...(rounds.get(name) ?? []), await testbed.load(job)]);
  }
  return Object.fromEntries([...rounds].map(([name, measured]) => [name, costOf(measured)]));
}

/** Medians of what the rounds showed. */
export function costOf(rounds: readonly Round[]): Cost {
  const cpu = rounds.map(({ cpuMicros, requests }) => cpuMicros / requests);
  return {
    cpuMicros: median(cpu),
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

/** CPU of one to CPU of another: the median over the rounds, so that other load on the machine affects both alike. NaN if one is missing. */
export function ratioOf(one: Cost | undefined, other: Cost | undefined): number {
  if (!one || !other) return Number.NaN;
  return median(one.rounds.map((cpu, round) => cpu / (other.rounds[round] ?? Number.NaN)));
}
