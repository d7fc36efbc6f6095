import { differenceOf, ratioOf } from './closed-loop.ts';
import { FLOOR_NAME, MERCURIUS_NAME, OURS_NAME, TEMPLATE_NAME, WITHOUT_SCOPES_NAME } from './contenders.ts';
import type { Results } from './results.ts';
import type { Estimate } from './statistics.ts';

/** What this subgraph wants to be, beside what it is. */
export interface Goal {
  readonly text: string;
  readonly unit: string;
  readonly wanted: number;
  /** Is at least as much as wanted good? At most as much is, for most goals. */
  readonly isAtLeast: boolean;
  readonly measured: number;
  /** The interval in which the true value lies with a probability of 95 %, if it is a median of rounds. */
  readonly low: number | undefined;
  readonly high: number | undefined;
  readonly met: boolean;
}

type Row = readonly [text: string, unit: string, wanted: number, measured: Estimate | number | undefined];

/** The goals that these results can say something about. */
export function goalsFor(results: Results): Goal[] {
  const rows: Row[] = [...plainGoals(results), ...newGoals(results), ...badGoals(results), ...processGoals(results)];
  const goals = rows.flatMap((row) => goalOf(row, false));
  return [
    ...goals,
    ...goalOf(['two replicas: answers for the same CPU, to one', '', 1.9, results.replicas?.scaling], true),
  ];
}

function goalOf([text, unit, wanted, measured]: Row, isAtLeast: boolean): Goal[] {
  const interval = typeof measured === 'object' ? measured : undefined;
  const value = typeof measured === 'object' ? measured.median : measured;
  if (value === undefined || Number.isNaN(value)) return [];
  const met = isAtLeast ? value >= wanted : value <= wanted;
  return [{ text, unit, wanted, isAtLeast, measured: value, low: interval?.low, high: interval?.high, met }];
}

/** The plain queries beside the floor and the cheapest other server. */
function plainGoals({ closed }: Results): Row[] {
  const toFloor = (group: string) => {
    const { [`${OURS_NAME} ${group}`]: ours, [`${FLOOR_NAME} ${group}`]: floor } = closed[group] ?? {};
    return ratioOf(ours, floor);
  };
  const { [`${OURS_NAME} single`]: ours, [`${MERCURIUS_NAME} single`]: mercurius } = closed['single'] ?? {};
  return [
    ['one token: CPU to the floor', '', 1.25, toFloor('single')],
    ['one token: CPU to Mercurius with JIT', '', 0.85, ratioOf(ours, mercurius)],
    ['100 tokens: CPU to the floor', '', 1.15, toFloor('entities')],
    ['100 references to 10 tokens: CPU to the floor', '', 1.2, toFloor('repeated')],
    ['a captcha: CPU to the floor', '', 1.3, toFloor('captcha')],
    ['a rejected token: CPU to the floor', '', 1.3, toFloor('rejected')],
    ['CPU of a reference, 1,000 of them to 10', '', 1, growthOf(closed)],
  ];
}

/** Of one reference, where 1,000 are asked for, to that where 10 are. */
function growthOf(closed: Results['closed']): Estimate | undefined {
  const { [`${OURS_NAME} growth-1000`]: many, [`${OURS_NAME} growth-10`]: few } = closed['growth'] ?? {};
  return scaled(ratioOf(many, few), 1 / 100);
}

/** What came last and has to cost little. */
function newGoals({ closed }: Results): Row[] {
  const { [`${OURS_NAME} captcha`]: plain, [`${OURS_NAME} attested`]: attested } = closed['attestation'] ?? {};
  const { [`${OURS_NAME} undecided`]: undecided, [`${OURS_NAME} decided`]: decided } = closed['decision'] ?? {};
  const { [`${OURS_NAME} single`]: scoped, [`${WITHOUT_SCOPES_NAME} single`]: free } = closed['scopes'] ?? {};
  const scopes = ratioOf(scoped, free);
  return [
    ['an attestation adds', 'µs', 130, differenceOf(attested, plain)],
    ['100 sealed references', 'ms', 10, scaled(closed['sealed']?.[`${OURS_NAME} sealed`]?.cpuMicros, 1 / 1_000)],
    ['a decision adds', 'µs', 1, scaled(differenceOf(decided, undecided), 1 / 100)],
    // Nothing measurable: the interval begins at no difference or below.
    ['CPU with scopes to that without, at the lower end of the interval', '', 1, scopes?.low],
  ];
}

/** What is new each time, and what is wrong. */
function badGoals({ closed, firstRequests }: Results): Row[] {
  const fresh = closed['new'] ?? {};
  const toMercurius = (workload: string) =>
    ratioOf(fresh[`${OURS_NAME} ${workload}`], fresh[`${MERCURIUS_NAME} ${workload}`]);
  const rotation = closed['rotation'] ?? {};
  const toOne = (workload: string) => ratioOf(rotation[`${OURS_NAME} ${workload}`], rotation[`${OURS_NAME} single`]);
  const references = closed['references'] ?? {};
  const first = firstRequests && Object.values(firstRequests);
  return [
    ['new names that never come again: CPU to Mercurius', '', 1, toMercurius('new')],
    ['new fields that never come again: CPU to Mercurius', '', 1, toMercurius('new-fields')],
    ['5,000 names in rotation: CPU to one', '', 1.3, toOne('rotation')],
    ['5,000 documents with different fields in rotation: CPU to one', '', 1.3, toOne('rotation-fields')],
    ['an invalid document', 'µs', 100, closed['invalid']?.[`${OURS_NAME} invalid`]?.cpuMicros],
    [
      'ten rejected references: CPU to ten good ones',
      '',
      1,
      ratioOf(references[`${OURS_NAME} rejected-references`], references[`${OURS_NAME} good-references`]),
    ],
    ['the first request, of the slowest root field', 'ms', 5, first && Math.max(...first.map(({ median }) => median))],
  ];
}

/** What is not about one request. */
function processGoals({ latency, coldStart, memory }: Results): Row[] {
  const loaded = (name: string) => memory?.[name]?.loaded ?? Number.NaN;
  const started = (name: string) => coldStart?.[name] ?? Number.NaN;
  return [
    ['p99 added at half load', 'ms', 5, latency?.[OURS_NAME]?.addedP99],
    ['start to that of Apollo’s template', '', 0.6, started(OURS_NAME) / started(TEMPLATE_NAME)],
    ['memory under load to the floor', '', 1.3, loaded(OURS_NAME) / loaded(FLOOR_NAME)],
  ];
}

function scaled(estimate: Estimate | undefined, factor: number): Estimate | undefined {
  if (!estimate) return undefined;
  const { median, low, high } = estimate;
  return { median: median * factor, low: low * factor, high: high * factor };
}
