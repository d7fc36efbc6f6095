import { ratioOf } from './closed-loop.ts';
import { FLOOR_NAME, OURS_NAME, TEMPLATE_NAME } from './contenders.ts';
import type { Results } from './results.ts';

/** What this subgraph wants to be, beside what it is. */
export interface Goal {
  readonly text: string;
  readonly wanted: number;
  /** At most as much as wanted is good. */
  readonly measured: number;
  readonly met: boolean;
}

/** The goals that these results can say something about. */
export function goalsFor({ closed, growth, latency, coldStart, memory }: Results): Goal[] {
  const cost = (workload: string, name: string) => closed[workload]?.[name];
  const toFloor = (workload: string) => ratioOf(cost(workload, OURS_NAME), cost(workload, FLOOR_NAME));
  const rivals = Object.entries(closed['single'] ?? {}).filter(([name]) => name !== OURS_NAME && name !== FLOOR_NAME);
  const toRivals = rivals.map(([, rival]) => ratioOf(cost('single', OURS_NAME), rival));
  const loaded = (name: string) => memory?.[name]?.loaded ?? Number.NaN;
  const started = (name: string) => coldStart?.[name] ?? Number.NaN;
  const rows: [text: string, wanted: number, measured: number][] = [
    ['single query: CPU to the floor', 1.5, toFloor('single')],
    [
      'single query: CPU to the cheapest other GraphQL server',
      1,
      rivals.length > 0 ? Math.max(...toRivals) : Number.NaN,
    ],
    ['_entities with 100 tokens: CPU to the floor', 1.3, toFloor('entities')],
    ['growth: CPU per entity, 1,000 references to 10', 1, perEntity(growth, 1_000) / perEntity(growth, 10)],
    ['added p99 at half load, in ms', 5, latency?.[OURS_NAME]?.addedP99 ?? Number.NaN],
    ['cold start to that of Apollo’s template', 0.6, started(OURS_NAME) / started(TEMPLATE_NAME)],
    ['memory under load to the floor', 1.3, loaded(OURS_NAME) / loaded(FLOOR_NAME)],
  ];
  return rows
    .filter(([, , measured]) => !Number.isNaN(measured))
    .map(([text, wanted, measured]) => ({ text, wanted, measured, met: measured <= wanted }));
}

function perEntity(growth: Results['growth'], size: number): number {
  return (growth?.[size]?.[OURS_NAME]?.cpuMicros ?? Number.NaN) / size;
}
