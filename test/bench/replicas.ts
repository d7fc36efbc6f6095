import { setTimeout as sleep } from 'node:timers/promises';
import { contenderNamed, OURS_NAME } from './contenders.ts';
import type { LoadJob, Round } from './load-job.ts';
import { type Random, shuffled } from './random.ts';
import type { Size } from './sizes.ts';
import { type Estimate, estimate, median } from './statistics.ts';
import { jobFor, type Running, type Testbed } from './testbed.ts';

/**
 * Two replicas instead of one, each with its half of the clients, as a Service of Kubernetes spreads connections.
 *
 * The clients and the upstream need more CPU than one replica. Where they share the cores with the replicas, two replicas cannot
 * show twice the throughput of one that has a core for itself. What such a machine can show is whether a replica does
 * as much with its CPU beside another one as it does alone, so load is limited to what every process can bear.
 */
export interface Replicas {
  /** Requests per second for each replica in the rounds with limited load. */
  readonly rate: number;
  /** How much of a core a replica used alone, and each of both. */
  readonly busyAlone: number;
  readonly busyBeside: number;
  /** Answers per second and CPU: those of two replicas to those of one, with limited load. */
  readonly scaling: Estimate;
  /** Requests per second when all clients have as much under way as they can. On few cores the clients are the limit. */
  readonly mostOfOne: number;
  readonly mostOfTwo: number;
}

/** Of what one replica can bear. */
const PART = 0.2;
const SETTLE_MS = 300;

/** @param first a replica that runs and is warm */
export async function measureReplicas(testbed: Testbed, first: Running, size: Size, random: Random): Promise<Replicas> {
  const second = await testbed.start(contenderNamed(OURS_NAME), { core: 'others' });
  try {
    const jobs: LoadJob[] = [];
    for (const running of [first, second]) {
      const job = { ...(await jobFor(running, 'single')), warmUpMs: size.rewarmMs };
      jobs.push({ ...job, ms: size.roundMs });
      await testbed.load({ ...job, ms: size.firstWarmUpMs });
    }
    await sleep(SETTLE_MS);
    const mostOfOne = rateOf([await testbed.load({ ...(jobs[0] as LoadJob), ms: size.pacedMs })]);
    const mostOfTwo = rateOf(await testbed.loadAll(jobs.map((job) => ({ ...job, ms: size.pacedMs }))));
    const rate = mostOfOne * PART;
    const paced = jobs.map((job) => ({ ...job, rate }));
    const alone: number[] = [];
    const beside: number[] = [];
    const scaling: number[] = [];
    for (let round = 0; round < size.rounds; round += 1) {
      const sets = new Map<string, Round[]>();
      for (const [at, set] of shuffled([...[...paced.map((job) => [job]), paced].entries()], random)) {
        sets.set(String(at), await testbed.loadAll(set));
      }
      const [one, other, both] = ['0', '1', '2'].map((at) => sets.get(at) ?? []) as [Round[], Round[], Round[]];
      const single = [...one, ...other];
      alone.push(...single.map(busyOf));
      beside.push(...both.map(busyOf));
      scaling.push(rateOf(both) / meanBusy(both) / (rateOf(single) / 2 / meanBusy(single)));
    }
    return {
      rate,
      busyAlone: median(alone),
      busyBeside: median(beside),
      scaling: estimate(scaling),
      mostOfOne,
      mostOfTwo,
    };
  } finally {
    await second.end();
  }
}

const busyOf = ({ cpuMicros, seconds }: Round) => cpuMicros / 1e6 / seconds;
const meanBusy = (rounds: readonly Round[]) => rounds.reduce((sum, round) => sum + busyOf(round), 0) / rounds.length;
const rateOf = (rounds: readonly Round[]) => rounds.reduce((sum, { requests, seconds }) => sum + requests / seconds, 0);
