import type { App } from '../../src/app.ts';

/** One value of a metric. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Metrics in the text format of Prometheus. */
interface Exposition {
  /** The type of each metric. */
  readonly families: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The value of the sample with this name and at least these labels; undefined if there is none. Throws if there are several. */
  value(name: string, labels?: Sample['labels']): number | undefined;
}

const COMMENT = /^# (?:HELP|TYPE (?<name>\S+) (?<type>\w+))/;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="([^"]*)"/g;

/** Parses the text format (https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details). */
export function parseExposition(text: string): Exposition {
  const families = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n').filter((it) => it !== '')) {
    const { name, type = '' } = COMMENT.exec(line)?.groups ?? {};
    if (name !== undefined) families.set(name, type);
    else if (!line.startsWith('#')) samples.push(sampleOf(line));
  }
  const value = (name: string, labels: Sample['labels'] = {}) => {
    const found = samples.filter((sample) => sample.name === name && hasLabels(sample, labels));
    if (found.length > 1) throw new Error(`expected one series of ${name} ${JSON.stringify(labels)}`);
    return found[0]?.value;
  };
  return { families, samples, value };
}

function sampleOf(line: string): Sample {
  const [, name, labels = '', number] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw new Error(`not the text format: ${line}`);
  const pairs = [...labels.matchAll(LABEL)].map(([, label = '', value = '']) => [label, value]);
  return { name, labels: Object.fromEntries(pairs), value: Number(number) };
}

function hasLabels(sample: Sample, labels: Sample['labels']): boolean {
  return Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
}

/** Reads the metrics of an app in this process as they are now. Throws if they are not in the text format. */
export async function readMetrics({ registry }: Pick<App, 'registry'>): Promise<Exposition> {
  return parseExposition(await registry.render());
}

/** Reads the metrics at an address, as they were up to a second ago. Throws if they are not in the text format. */
export async function scrape(metricsUrl: string): Promise<Exposition> {
  const response = await fetch(metricsUrl);
  if (response.status !== 200) throw new Error(`expected metrics, but got status ${response.status}`);
  return parseExposition(await response.text());
}

/** What grew while something was done. */
interface Gain {
  /** The labels of each series of this metric that grew, and by how much. */
  of(name: string): [labels: Sample['labels'], gain: number][];
  /** By how much the series with at least these labels grew, all together. */
  sum(name: string, labels?: Sample['labels']): number;
}

/** Does something, and gives what the metrics of an app, which other tests use as well, gained meanwhile. */
export async function gainOf(app: Pick<App, 'registry'>, act: () => Promise<unknown>): Promise<Gain> {
  const identityOf = ({ name, labels }: Sample) => JSON.stringify([name, Object.entries(labels).sort()]);
  const before = new Map((await readMetrics(app)).samples.map((sample) => [identityOf(sample), sample.value]));
  await act();
  const grown = (await readMetrics(app)).samples
    .map((sample) => ({ ...sample, value: sample.value - (before.get(identityOf(sample)) ?? 0) }))
    .filter(({ value }) => value > 0);
  return {
    of: (metric) => grown.filter(({ name }) => name === metric).map(({ labels, value }) => [labels, value]),
    sum: (metric, labels = {}) =>
      grown
        .filter((sample) => sample.name === metric && hasLabels(sample, labels))
        .reduce((sum, { value }) => sum + value, 0),
  };
}
