import { setTimeout as sleep } from 'node:timers/promises';
import { type Contender, startServer } from './contenders.ts';
import { type Cost, costOf, costOfEach, latencyOf } from './load.ts';
import { type Child, usedBy } from './processes.ts';
import type { Workload } from './requests.ts';

/** Everything that is measured of a server, from its start to its end. */
export interface Start {
  /** CPU time of its first requests, in s. */
  readonly cold: number;
  /** Round by round. */
  readonly costs: ReadonlyMap<Workload, readonly Cost[]>;
  readonly paced: Awaited<ReturnType<typeof latencyOf>>;
  /** A second without requests. */
  readonly idle: Cost;
}

interface Plan {
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  /** How often each is started. */
  readonly starts: number;
  /** Requests a second for the latency. */
  readonly rate: number;
  /** What to put before the command of a server. */
  readonly core: readonly string[];
}

/** The first requests of a process, which V8 has not optimised. */
export const COLD_REQUESTS = 5_000;
/** V8 needs 5 to 7 s of a core, with a second wave of changes in the fifth. A server whose cost still falls gets more. */
const [WARM_UP_CPU_S, MAX_WARM_UP_CPU_S, SLICE_MS] = [9, 14, 500];
const STEADY = 0.95;
const ROUNDS = 6;
/** What is measured in each round, and what is not because another server just had the core and its caches. */
const [ROUND_MS, REWARM_MS] = [150, 30];
const PACED_MS = 3_000;
/** After the load, sockets and timers of calls end by themselves. */
const [SETTLE_MS, IDLE_MS] = [5_000, 10_000];

/** About how long it takes, in s. */
export function secondsFor({
  contenders,
  workloads,
  starts,
}: Pick<Plan, 'contenders' | 'workloads' | 'starts'>): number {
  const rounds = ROUNDS * workloads.length * (ROUND_MS + REWARM_MS);
  const ofEach = 3_000 + 1_100 * WARM_UP_CPU_S + rounds + PACED_MS;
  return Math.ceil((starts * (contenders.length * ofEach + SETTLE_MS + IDLE_MS)) / 1_000);
}

/**
 * Starts all contenders several times, and warms each up. Then it measures every contender with every workload in rounds. Each round
 * and each start has a random order, so that neither other load on the machine nor what came before favours anyone. Those that have
 * the same workload come one after the other, so that they can be compared round by round.
 *
 * @throws Error if an answer is not as it should be
 */
export async function measure(plan: Plan, say: (step: string) => void): Promise<ReadonlyMap<Contender, Start[]>> {
  const { contenders, workloads, starts, rate, core } = plan;
  const [first] = workloads;
  if (!first) throw new Error('expected a workload');
  const results = new Map(contenders.map((one) => [one, Array.of<Start>()]));
  for (let start = 1; start <= starts; start += 1) {
    say(`start ${start} of ${starts}, µs of CPU for each half second of warm-up:`);
    const running = [];
    for (const contender of shuffled(contenders)) {
      const server = await startServer(contender, core);
      const { micros } = await costOf(server, first, { requests: COLD_REQUESTS });
      say(`  ${contender.title}: ${await warmUp(server, workloads)}`);
      const costs = new Map(workloads.map((workload) => [workload, Array.of<Cost>()]));
      running.push({ contender, server, cold: (micros * COLD_REQUESTS) / 1e6, costs });
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const workload of shuffled(workloads)) {
        for (const { server, costs } of shuffled(running)) {
          costs.get(workload)?.push(await costOf(server, workload, { rewarmMs: REWARM_MS, ms: ROUND_MS }));
        }
      }
    }
    const finished = [];
    for (const one of shuffled(running)) {
      finished.push({ ...one, paced: await latencyOf(one.server, first, rate, PACED_MS) });
    }
    await sleep(SETTLE_MS);
    await Promise.all(
      finished.map(async ({ contender, server, ...measured }) => {
        const idle = await costOfEach(server, () => sleep(IDLE_MS, IDLE_MS / 1_000));
        results.get(contender)?.push({ ...measured, idle });
        await server.end();
      }),
    );
  }
  return results;
}

/** Loads a server with each workload in turns until it takes no less CPU than in the turns before. Returns the seen figures as a text. */
async function warmUp(server: Child, workloads: readonly Workload[]): Promise<string> {
  const seen = workloads.map(({ title }) => ({ title, micros: Array.of<number>() }));
  const { micros: begin } = await usedBy(server);
  for (let share = 0, before = 1; ; before = share) {
    for (const [at, workload] of workloads.entries()) {
      seen[at]?.micros.push((await costOf(server, workload, { ms: SLICE_MS })).micros);
    }
    // How much the last turns took, beside the first ones.
    share = seen.reduce((sum, { micros }) => sum + (micros.at(-1) ?? 0) / (micros[0] ?? 0) / seen.length, 0);
    const seconds = ((await usedBy(server)).micros - begin) / 1e6;
    const text = seen.map(({ title, micros }) => `${title} ${micros.map(Math.round).join(' ')}`).join(', ');
    if (seconds >= WARM_UP_CPU_S && share > STEADY * before) return text;
    if (seconds >= MAX_WARM_UP_CPU_S) return `${text}, not yet steady`;
  }
}

function shuffled<T>(values: readonly T[]): T[] {
  const placed = values.map((value) => ({ value, place: Math.random() }));
  return placed.sort((one, other) => one.place - other.place).map(({ value }) => value);
}
