import { type Costs, ratioOf } from './closed-loop.ts';
import { FLOOR_NAME } from './contenders.ts';
import type { Goal } from './goals.ts';
import type { Results } from './results.ts';
import { spread } from './statistics.ts';
import { workloadNamed } from './workloads.ts';

/** The results as text for a person. */
export function report(results: Results, goals: readonly Goal[]): string {
  const { environment, closed, growth, latency, coldStart, memory } = results;
  const packages = Object.entries(environment.packages).map(([name, version]) => `${name} ${version}`);
  const sections = [
    [
      `Benchmark (${environment.size}) of ${environment.date}`,
      `Node ${environment.node}, ${environment.cores} cores, ${environment.cpu}; ${environment.placement}`,
      `Load average before: ${environment.loadBefore.toFixed(2)}`,
      packages.join(', '),
      'CPU is that of the server’s whole process for one request; "to floor" compares it with a bare proxy. "busy" is how',
      'much of a core it used, "waited" how long its threads were ready to run while others, or each other, had the core.',
    ].join('\n'),
    ...Object.entries(closed).map(([name, costs]) => `${name}: ${workloadNamed(name).title}\n${costTable(costs)}`),
    growth && `growth: CPU µs per entity, ten references a token\n${growthTable(growth)}`,
    latency && `latency: half of the most that each can bear, the upstream slow\n${latencyTable(latency)}`,
    coldStart && `cold-start: from spawning to the first answer\n${startTable(coldStart)}`,
    memory && `memory: MiB in RAM\n${memoryTable(memory)}`,
    goals.length > 0 && `goals\n${goalTable(goals)}`,
  ];
  return `${sections.filter(Boolean).join('\n\n')}\n`;
}

function costTable(costs: Costs): string {
  return table(
    ['', 'CPU µs', 'to floor', 'spread', 'req/s', 'p50 ms', 'p99 ms', 'busy', 'waited'],
    Object.entries(costs).map(([name, cost]) => [
      name,
      fixed(cost.cpuMicros, 1),
      times(ratioOf(cost, costs[FLOOR_NAME])),
      percent(spread(cost.rounds)),
      fixed(cost.rate, 0),
      fixed(cost.p50, 2),
      fixed(cost.p99, 2),
      percent(cost.busy),
      percent(cost.waited),
    ]),
  );
}

function growthTable(growth: NonNullable<Results['growth']>): string {
  const sizes = Object.keys(growth);
  const names = Object.keys(growth[sizes[0] ?? ''] ?? {});
  const cell = (name: string, size: string) => fixed((growth[size]?.[name]?.cpuMicros ?? Number.NaN) / Number(size), 2);
  return table(
    ['references', ...sizes],
    names.map((name) => [name, ...sizes.map((size) => cell(name, size))]),
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
      fixed(idle, 0),
      fixed(loaded, 0),
      times(loaded / floor),
      fixed(peak ?? Number.NaN, 0),
    ]),
  );
}

function goalTable(goals: readonly Goal[]): string {
  return table(
    ['', 'measured', 'at most', 'met'],
    goals.map(({ text, wanted, measured, met }) => [text, fixed(measured, 2), fixed(wanted, 2), met ? 'yes' : 'no']),
  );
}

/** Columns as wide as they have to be: the first one to the left, the others to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  const pad = (cell: string, at: number) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0));
  return lines.map((line) => `  ${line.map(pad).join('  ')}`.trimEnd()).join('\n');
}

/** A dash stands for what was not measured. */
function fixed(value: number, decimals: number): string {
  return Number.isNaN(value) ? '-' : value.toFixed(decimals);
}

function times(ratio: number): string {
  return Number.isNaN(ratio) ? '-' : `${ratio.toFixed(2)}×`;
}

function percent(part: number): string {
  return Number.isNaN(part) ? '-' : `${Math.round(part * 100)} %`;
}
