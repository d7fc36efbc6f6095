import type { Environment } from '../bench/environment.ts';
import { type Capacity, capacityFor, type Load, type Most, PLANNED } from './capacity.ts';
import type { Comparison, Point } from './measure.ts';

/** Of the operator's table: requests a second, and the latency of the upstream in ms. */
export const RATES = [100, 1_000, 10_000, 16_667, 33_000];
export const LATENCIES = [50, 150, 300, 1_000];

/** How far a measured value may be from the function's, as a part of that. */
const TOLERANCE = 0.15;

export const agrees = ({ computed, measured }: Comparison) => Math.abs(measured - computed) <= TOLERANCE * computed;

/** A whole number with separators, or one with two digits if it is small. */
export function shown(value: number): string {
  return value < 10 ? String(Number(value.toPrecision(2))) : Math.round(value).toLocaleString('en');
}

/** Bytes with the unit in which they are below a thousand. */
export function bytesShown(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  return `${Number((bytes / 1_000 ** power).toPrecision(2))} ${units[power]}`;
}

/** A count as people say it: million or billion. */
export function countShown(count: number): string {
  if (count < 1e9) return `${Number((count / 1e6).toPrecision(3))} million`;
  return `${Number((count / 1e9).toPrecision(3))} billion`;
}

/** The rows of the operator's table, for the page. */
export function tableRows(): string {
  const rows = RATES.flatMap((requestsPerSecond) =>
    LATENCIES.map((latencyMs) => {
      const capacity = capacityFor({ requestsPerSecond, latencyMs, callsPerRequest: 1 }, PLANNED);
      return `| ${[shown(requestsPerSecond), shown(latencyMs), ...cellsOf(capacity)].join(' | ')} |\n`;
    }),
  );
  return rows.join('');
}

/** What a load needs, as the cells of the operator's table. */
export function cellsOf(capacity: Capacity): string[] {
  const { callsInFlight, replicas, sockets, cores, logBytesPerDay, eventsPerDay } = capacity;
  return [
    shown(callsInFlight),
    shown(replicas),
    shown(sockets),
    shown(cores),
    bytesShown(logBytesPerDay),
    countShown(eventsPerDay),
  ];
}

/** What a load needs, for a person. */
export function describePlan(load: Load, capacity: Capacity, most: Most): string {
  const { requestsPerSecond, latencyMs, callsPerRequest } = load;
  const { maxInFlight } = PLANNED;
  const [ofCalls, ofCpu] = [PLANNED.inFlightShare, PLANNED.cpuShare].map((share) => `${Math.round(share * 100)} %`);
  return `${shown(requestsPerSecond)} requests a second with ${shown(callsPerRequest)} upstream calls of ${latencyMs} ms each:

  calls in flight    ${shown(capacity.callsInFlight)}
  replicas           ${capacity.replicas}, with ${ofCalls} of ${maxInFlight} calls and ${ofCpu} of one core for each
  upstream sockets   ${shown(capacity.sockets)} at most
  CPU                ${shown(capacity.cores)} cores
  log a day          ${bytesShown(capacity.logBytesPerDay)}
  events a day       ${countShown(capacity.eventsPerDay)}
  these replicas at most answer ${shown(Math.min(most.byCalls, most.byCpu))} requests a second
`;
}

/** What was measured beside the function's values, and whether all of them agree. */
export function describePoints(environment: Environment, points: readonly Point[]): { text: string; agrees: boolean } {
  const { date, node, cores, cpu, loadBefore } = environment;
  const head = [
    `Capacity of one replica, ${date}`,
    `Node ${node}, ${cores} cores, ${cpu}; load average before: ${loadBefore.toFixed(2)}`,
  ];
  const blocks = points.map((point) => {
    const { latencyMs, requestsPerSecond, measuredLatencyMs, cpuMicros, waited, refused, comparisons } = point;
    const rows = comparisons.map((comparison) => {
      const { what, computed, measured } = comparison;
      const percent = `${measured >= computed ? '+' : ''}${Math.round((measured / computed - 1) * 100)} %`;
      const cells = [shown(computed).padStart(10), shown(measured).padStart(10), percent.padStart(8)];
      return `  ${what.padEnd(26)}${cells.join('')}   ${agrees(comparison) ? 'yes' : 'no'}`;
    });
    return [
      `Upstream ${latencyMs} ms, measured ${measuredLatencyMs.toFixed(0)} ms; ${shown(requestsPerSecond)} requests a second, ` +
        `${cpuMicros.toFixed(0)} µs of CPU each, without a core for ${Math.round(waited * 100)} % of the time; ` +
        `beyond the limit ${Math.round(refused * 100)} % were refused`,
      `  ${''.padEnd(26)}  function  measured    differs   within 15 %`,
      ...rows,
    ].join('\n');
  });
  return {
    text: `${[head.join('\n'), ...blocks].join('\n\n')}\n`,
    agrees: points.every(({ comparisons }) => comparisons.every(agrees)),
  };
}
