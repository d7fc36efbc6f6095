import { waitedIn } from './closed-loop.ts';
import type { Size } from './sizes.ts';
import { median } from './statistics.ts';
import { jobFor, type Running, type Testbed } from './testbed.ts';
import { SLOW } from './workloads.ts';

/** What a contender adds to the latency of a slow upstream at half of the load that it can bear. In ms. */
export interface AddedLatency {
  /** Requests per second: half of the most. */
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** Of the upstream itself. */
  readonly directP99: number;
  readonly addedP50: number;
  readonly addedP99: number;
  /** CPU per request at this load. */
  readonly cpuMicros: number;
  /** How long its threads were ready to run without a core, as a part of the time. */
  readonly waited: number;
}

/** Asks through each contender and the upstream itself, in turns, at the same rate. */
export async function measurePaced(
  testbed: Testbed,
  contenders: readonly Running[],
  size: Size,
): Promise<Readonly<Record<string, AddedLatency>>> {
  const measured: [string, AddedLatency][] = [];
  for (const contender of contenders) measured.push([contender.name, await measureOne(testbed, contender, size)]);
  return Object.fromEntries(measured);
}

async function measureOne(testbed: Testbed, contender: Running, size: Size): Promise<AddedLatency> {
  const rate = (await mostOf(testbed, contender, size)) / 2;
  const paced = { rate, warmUpMs: size.rewarmMs, ms: size.pacedMs };
  const through = { ...paced, ...(await jobFor(contender, 'slow')) };
  const direct = { ...paced, ...directTo(testbed) };
  const rounds = [];
  for (let round = 0; round < size.pacedRounds; round += 1) {
    rounds.push({ direct: await testbed.load(direct), through: await testbed.load(through) });
  }
  return {
    rate,
    p50: median(rounds.map((round) => round.through.p50)),
    p99: median(rounds.map((round) => round.through.p99)),
    directP99: median(rounds.map((round) => round.direct.p99)),
    addedP50: median(rounds.map((round) => round.through.p50 - round.direct.p50)),
    addedP99: median(rounds.map((round) => round.through.p99 - round.direct.p99)),
    cpuMicros: median(rounds.map((round) => round.through.cpuMicros / round.through.requests)),
    waited: waitedIn(rounds.map(({ through }) => through)),
  };
}

/** What asks the slow upstream itself. */
export function directTo({ upstreamUrl, upstreamPid }: Testbed) {
  return {
    url: `${upstreamUrl}/api/v2/fp_query/pk_bench`,
    headers: {},
    pid: upstreamPid,
    workload: 'direct',
    connections: SLOW.connections,
    answerBytes: undefined,
  };
}

/** Requests per second when it has as much to do as it can: the median of three rounds. */
export async function mostOf(testbed: Testbed, contender: Running, { warmUpMs, roundMs }: Size): Promise<number> {
  const job = { ...(await jobFor(contender, 'single')), ms: roundMs };
  const rates: number[] = [];
  for (const ms of [warmUpMs, 0, 0]) {
    const { requests, seconds } = await testbed.load({ ...job, warmUpMs: ms });
    rates.push(requests / seconds);
  }
  return median(rates);
}
