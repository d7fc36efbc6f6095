import { CONTENDERS, WITHOUT_SCOPES_NAME } from './contenders.ts';
import { goalCells, goalHead } from './goal-cells.ts';
import type { Goal } from './goals.ts';
import { GROUPS } from './groups.ts';
import { describeRun } from './report.ts';
import type { Results } from './results.ts';
import { fixed, markdownTable } from './table.ts';
import { WORKLOADS } from './workloads.ts';

/** The results as the tables of README.md beside this file. */
export function markdown(results: Results, goals: readonly Goal[]): string {
  const { closed, firstRequests } = results;
  const shared = Object.keys(WORKLOADS).filter((name) => closed[name]);
  const names = CONTENDERS.map(({ name }) => name).filter(
    (name) => name !== WITHOUT_SCOPES_NAME && shared.some((group) => closed[group]?.[`${name} ${group}`]),
  );
  const cost = (group: string, series: string) => fixed(closed[group]?.[series]?.cpuMicros.median, 0);
  const others = Object.entries(closed).filter(([name]) => !(name in WORKLOADS));
  const sections = [
    describeRun(results),
    markdownTable(
      ['CPU µs of a request', ...names],
      shared.map((group) => [GROUPS[group]?.title ?? group, ...names.map((name) => cost(group, `${name} ${group}`))]),
    ),
    markdownTable(
      ['what else was measured', 'CPU µs of a request'],
      others.flatMap(([group, costs]) =>
        Object.keys(costs).map((series) => [`${GROUPS[group]?.title}: ${series}`, cost(group, series)]),
      ),
    ),
    firstRequests &&
      markdownTable(
        ['first request after `/readyz`', 'median ms', 'most ms', 'the next one'],
        Object.entries(firstRequests).map(([name, { median, most, next }]) => [
          name,
          ...[median, most, next].map((ms) => fixed(ms, 1)),
        ]),
      ),
    markdownTable(goalHead, goals.map(goalCells)),
  ];
  return `${sections.filter(Boolean).join('\n\n')}\n`;
}
