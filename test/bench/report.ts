import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/process.ts';
import { COPY, type Contender, OURS } from './contenders.ts';
import { COLD_REQUESTS, type Start } from './measure.ts';
import type { Workload } from './requests.ts';

/** What was measured, as two tables in Markdown and a chart in SVG. Each start counts with the median of its rounds. */

type Results = ReadonlyMap<Contender, readonly Start[]>;

/** Of each contender the CPU time of a request, and how many times as much ours needs. */
export function cpuTable(results: Results, workloads: readonly Workload[]): string {
  const head = ['CPU of a request', ...workloads.flatMap(({ title }) => [`${title}, µs`, 'ours to it'])];
  const ours = [...results].find(([{ name }]) => name === OURS)?.[1];
  const rows = [...results].map(([{ name, title }, starts]) => [
    title,
    ...workloads.flatMap((workload) => {
      const ratios = starts.map((start, at) => {
        const own = ours?.[at]?.costs.get(workload) ?? [];
        const other = start.costs.get(workload) ?? [];
        return median(own.map(({ micros }, round) => micros / (other[round]?.micros ?? Number.NaN)));
      });
      return [spread(microsOf(starts, workload), 0), name === OURS || !ours ? '' : spread(ratios, 2)];
    }),
  ]);
  return table([head, ...rows]);
}

/** Everything else: latency, a cold start, memory, an idle process. */
export function otherTable(results: Results, workloads: readonly Workload[], rate: number): string {
  const [first] = workloads;
  const head = [
    `${first?.title}`,
    `at ${rate} a second: p50, ms`,
    'p99, ms',
    'CPU, µs',
    `first ${COLD_REQUESTS} of a process, s of CPU`,
    ...workloads.map(({ title }) => `KiB allocated: ${title}`),
    'idle, ms of CPU a second',
    'wake-ups a second',
  ];
  const shown = [...results].filter(([{ name }]) => name !== COPY);
  const rows = shown.map(([{ title }, starts]) => {
    const middle = (of: (start: Start) => number, decimals: number) => fixed(median(starts.map(of)), decimals);
    const bytesOf = (workload: Workload) => (start: Start) =>
      median((start.costs.get(workload) ?? []).map(({ bytes }) => bytes / 1_024));
    return [
      title,
      middle(({ paced }) => paced.p50, 2),
      middle(({ paced }) => paced.p99, 2),
      middle(({ paced }) => paced.micros, 0),
      middle(({ cold }) => cold, 2),
      ...workloads.map((workload) => middle(bytesOf(workload), 0)),
      middle(({ idle }) => idle.micros / 1_000, 1),
      middle(({ idle }) => idle.wakeUps, 1),
    ];
  });
  return table([head, ...rows]);
}

/** The versions that were measured. */
export function versions(): string {
  const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  const { dependencies } = read('package.json');
  const { devDependencies } = read('test/on-demand/package.json');
  const packages = { ...dependencies, ...devDependencies, node: process.versions.node };
  return ['node', 'undici', 'fastify', 'mercurius', '@apollo/server']
    .map((one) => `${one} ${packages[one]}`)
    .join(', ');
}

const [LEFT, WIDTH, ROW] = [170, 420, 22];

/** Bars for the first table: a group for each workload, each with its own scale, and a line from minimum to maximum. */
export function chart(results: Results, workloads: readonly Workload[]): string {
  const shown = [...results].filter(([{ name }]) => name !== COPY);
  let y = 0;
  const text = (x: number, words: string, rest = '') => `<text x="${x}" y="${y + 15}"${rest}>${words}</text>`;
  const groups = workloads.map((workload) => {
    y += ROW;
    const title = text(8, `µs of CPU for ${workload.title}`, ' font-weight="bold"');
    const all = shown.map(([contender, starts]) => ({ contender, values: microsOf(starts, workload) }));
    const scale = WIDTH / Math.max(...all.flatMap(({ values }) => values));
    const bars = all.map(({ contender, values }) => {
      y += ROW;
      const [width, least, most] = [median(values), Math.min(...values), Math.max(...values)].map((one) =>
        Math.round(one * scale),
      );
      const fill = contender.name === OURS ? '#0b7285' : '#adb5bd';
      return [
        text(LEFT - 8, contender.title, ' text-anchor="end"'),
        `<rect x="${LEFT}" y="${y + 3}" width="${width}" height="${ROW - 6}" fill="${fill}"/>`,
        `<path d="M${LEFT + (least ?? 0)} ${y + ROW / 2}H${LEFT + (most ?? 0)}" stroke="#212529"/>`,
        text(LEFT + (most ?? 0) + 8, fixed(median(values), 0)),
      ].join('');
    });
    return [title, ...bars].join('\n');
  });
  const [width, height] = [LEFT + WIDTH + 70, y + 2 * ROW];
  const frame = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`;
  return `${frame}\n<title>CPU of a request</title>\n<rect width="100%" height="100%" fill="#fff"/>\n${groups.join('\n')}\n</svg>\n`;
}

const microsOf = (starts: readonly Start[], workload: Workload) =>
  starts.map(({ costs }) => median((costs.get(workload) ?? []).map(({ micros }) => micros)));

/** The middle value, or the mean of the two in the middle. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (place: number) => sorted[Math.floor(place)] ?? Number.NaN;
  return (at((sorted.length - 1) / 2) + at(sorted.length / 2)) / 2;
}

const fixed = (value: number, decimals: number) =>
  value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

/** Median and range. */
const spread = (values: readonly number[], decimals: number) =>
  `${fixed(median(values), decimals)} (${fixed(Math.min(...values), decimals)}–${fixed(Math.max(...values), decimals)})`;

function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
