import { type Costs, ratioOf } from './closed-loop.ts';
import { FLOOR_NAME } from './contenders.ts';
import { goalCells, goalHead } from './goal-cells.ts';
import type { Goal } from './goals.ts';
import { GROUPS } from './groups.ts';
import type { Results } from './results.ts';
import type { Estimate } from './statistics.ts';
import { fixed, percent, table } from './table.ts';

/** The results as text for a person. */
export function report(results: Results, goals: readonly Goal[]): string {
  const { closed, firstRequests, replicas, latency, coldStart, memory } = results;
  const sections = [
    describeRun(results),
    ...Object.entries(closed).map(([name, costs]) => `${name}: ${GROUPS[name]?.title}\n${costTable(costs)}`),
    firstRequests && `first-request: ms after a process said that it is ready\n${firstTable(firstRequests)}`,
    replicas && `replicas: two processes, each with half of the clients\n${replicaTable(replicas)}`,
    latency && `latency: half of the most that each can bear, the upstream slow\n${latencyTable(latency)}`,
    coldStart && `cold-start: from spawning to the first answer\n${startTable(coldStart)}`,
    memory && `memory: MiB in RAM\n${memoryTable(memory)}`,
    goals.length > 0 && `goals\n${table(goalHead, goals.map(goalCells))}`,
  ];
  return `${sections.filter(Boolean).join('\n\n')}\n`;
}

/** What ran, where and how. */
export function describeRun({ environment, run }: Results): string {
  const { date, commit, node, cores, cpu, placement, packages, undiciOfNode, size, loadBefore } = environment;
  const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
  return [
    `Benchmark (${size}) of ${date}, commit ${commit ?? 'unknown'}`,
    `Node ${node}, ${cores} cores, ${cpu}; ${placement}`,
    `Load average: ${loadBefore.toFixed(2)} before, ${run.loadAfter.toFixed(2)} after`,
    `${versions.join(', ')}; Node's fetch has undici ${undiciOfNode}`,
    `${run.rounds} rounds of ${run.roundMs} ms, each in an order of its own, seed ${run.seed}.`,
    'CPU is that of the server’s whole process for one request. "to floor" compares it with a bare proxy, round by round. In',
    'brackets is the interval in which the true median lies with a probability of 95 %. "busy" is how much of a core it used,',
    '"waited" how long its threads were ready to run while others, or each other, had the core.',
  ].join('\n');
}

function costTable(costs: Costs): string {
  return table(
    ['', 'CPU µs', '', 'to floor', '', 'req/s', 'p50 ms', 'p99 ms', 'busy', 'waited'],
    Object.entries(costs).map(([name, cost]) => [
      name,
      fixed(cost.cpuMicros.median, 1),
      interval(cost.cpuMicros, 1),
      ...toFloor(ratioOf(cost, costs[name.replace(/^\S+/, FLOOR_NAME)])),
      fixed(cost.rate, 0),
      fixed(cost.p50, 2),
      fixed(cost.p99, 2),
      percent(cost.busy),
      percent(cost.waited),
    ]),
  );
}

function toFloor(ratio: Estimate | undefined): string[] {
  return ratio ? [`${ratio.median.toFixed(2)}×`, interval(ratio, 2)] : ['-', ''];
}

function interval({ low, high }: Estimate, decimals: number): string {
  return `[${fixed(low, decimals)} ${fixed(high, decimals)}]`;
}

function firstTable(firstRequests: NonNullable<Results['firstRequests']>): string {
  return table(
    ['', 'median', 'most', 'the next one'],
    Object.entries(firstRequests).map(([name, { median, most, next }]) => [
      name,
      ...[median, most, next].map((ms) => fixed(ms, 2)),
    ]),
  );
}

function replicaTable({
  rate,
  busyAlone,
  busyBeside,
  scaling,
  mostOfOne,
  mostOfTwo,
}: NonNullable<Results['replicas']>) {
  return table(
    ['', ''],
    [
      ['requests per second and replica, with limited load', fixed(rate, 0)],
      ['busy, alone', percent(busyAlone)],
      ['busy, beside the other one', percent(busyBeside)],
      ['answers for the same CPU, to one replica', `${fixed(scaling.median, 2)}× ${interval(scaling, 2)}`],
      ['most requests per second of one, clients on the other core', fixed(mostOfOne, 0)],
      ['most of two, clients and one of them on the same core', fixed(mostOfTwo, 0)],
    ],
  );
}

function latencyTable(latency: NonNullable<Results['latency']>): string {
  return table(
    ['', 'req/s', 'p50 ms', 'p99 ms', 'upstream p99', 'added p50', 'added p99', 'CPU µs', 'waited'],
    Object.entries(latency).map(([name, { rate, p50, p99, directP99, addedP50, addedP99, cpuMicros, waited }]) => [
      name,
      fixed(rate, 0),
      ...[p50, p99, directP99, addedP50, addedP99].map((ms) => fixed(ms, 2)),
      fixed(cpuMicros, 1),
      percent(waited),
    ]),
  );
}

function startTable(coldStart: NonNullable<Results['coldStart']>): string {
  return table(
    ['', 'ms'],
    Object.entries(coldStart).map(([name, ms]) => [name, fixed(ms, 0)]),
  );
}

function memoryTable(memory: NonNullable<Results['memory']>): string {
  const floor = memory[FLOOR_NAME]?.loaded ?? Number.NaN;
  return table(
    ['', 'idle', 'under load', 'to floor', 'peak'],
    Object.entries(memory).map(([name, { idle, loaded, peak }]) => [
      name,
      ...[idle, loaded].map((mebibytes) => fixed(mebibytes, 0)),
      Number.isNaN(floor) ? '-' : `${fixed(loaded / floor, 2)}×`,
      fixed(peak, 0),
    ]),
  );
}
