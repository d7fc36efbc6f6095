import type { App } from '../../src/app.ts';

/** One value of a metric. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Metrics in the text format of Prometheus, in their order. */
interface Exposition {
  readonly families: ReadonlyMap<string, { readonly type: string; readonly help: string }>;
  readonly samples: readonly Sample[];
  /** The value of the sample with this name and at least these labels; undefined if there is none. Throws if there are several. */
  value(name: string, labels?: Sample['labels']): number | undefined;
}

const HELP = /^# HELP ([a-zA-Z_:][\w:]*) (.+)$/;
const TYPE = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary|untyped)$/;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([+-]?Inf|NaN|Nan|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/**
 * Parses the text format (https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details), as strictly as
 * `promtool check metrics`. Throws for a line that is not valid.
 */
export function parseExposition(text: string): Exposition {
  const families = new Map<string, { type: string; help: string }>();
  const samples: Sample[] = [];
  const helps = new Map<string, string>();
  if (!text.endsWith('\n')) throw new Error('expected the last line to end');
  for (const line of text.split('\n').filter((it) => it !== '')) {
    const [, helpName, help = ''] = HELP.exec(line) ?? [];
    const [, typeName, type = ''] = TYPE.exec(line) ?? [];
    if (helpName) helps.set(requireNew(helpName, helps), help);
    else if (typeName)
      families.set(requireNew(typeName, families), { type, help: helps.get(typeName) ?? fail(line, 'no HELP') });
    else samples.push(sampleOf(line, [...families.entries()].at(-1) ?? ['', { type: '' }]));
  }
  const identities = samples.map(({ name, labels }) => JSON.stringify([name, Object.entries(labels).sort()]));
  if (new Set(identities).size !== identities.length) throw new Error('expected each series once');
  const value = (name: string, labels: Sample['labels'] = {}) => {
    const found = samples.filter((sample) => sample.name === name && hasLabels(sample, labels));
    if (found.length > 1) throw new Error(`expected one series of ${name} ${JSON.stringify(labels)}`);
    return found[0]?.value;
  };
  return { families, samples, value };
}

function hasLabels(sample: Sample, labels: Sample['labels']): boolean {
  return Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
}

function sampleOf(line: string, [family, { type }]: readonly [string, { type: string }]): Sample {
  const [, name = '', list = '', number = ''] = SAMPLE.exec(line) ?? fail(line, 'neither a comment nor a sample');
  const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  if (!suffixes.some((suffix) => name === family + suffix)) fail(line, 'not of the family before it');
  if (type === 'counter' && !name.endsWith('_total')) fail(line, 'a counter without _total');
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  for (let at = 0; at < list.length; at = LABEL.lastIndex) {
    const [, label = '', value = ''] = LABEL.exec(list) ?? fail(line, 'no label');
    labels[requireNew(label, new Map(Object.entries(labels)))] = value;
  }
  return { name, labels, value: Number(number.replace('Inf', 'Infinity')) };
}

function requireNew(name: string, known: ReadonlyMap<string, unknown>): string {
  return known.has(name) ? fail(name, 'twice') : name;
}

function fail(what: string, why: string): never {
  throw new Error(`not the text format (${why}): ${what}`);
}

/** Reads the metrics of an app. Throws if they are not in the text format. */
export async function readMetrics({ metricsUrl }: Pick<App, 'metricsUrl'>): Promise<Exposition> {
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
export async function gainOf(app: Pick<App, 'metricsUrl'>, act: () => Promise<unknown>): Promise<Gain> {
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
