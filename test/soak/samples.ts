import { percentile } from '../bench/statistics.ts';
import type { Question } from './questions.ts';

/** What the soak keeps of an answer, and the arithmetic over many of them. */

export interface Sample {
  /** Number of the request. */
  readonly number: number;
  /** When it was due, in ms since 1970. */
  readonly at: number;
  /** From when it was due to its whole answer, in ms. */
  readonly ms: number;
  /** How much later than due it was sent, in ms. */
  readonly late: number;
  /** 0 if the connection broke. */
  readonly status: number;
  /** `data`, an error code, the type of another outcome, or `lost` if there was no answer. */
  readonly outcome: string;
  /** Would a frontend that asked this go on? */
  readonly proceeds: boolean;
  readonly retryAfter: boolean;
  /** What the proxy said about a replica that broke the connection, if there is a proxy. */
  readonly note: string;
}

/** Reads an answer of status 200 to 599 with its body. */
export function readAnswer(question: Question, number: number, text: string): Pick<Sample, 'outcome' | 'proceeds'> {
  const { beginning } = question;
  if (beginning !== undefined && text.startsWith(beginning)) return { outcome: 'data', proceeds: false };
  const { data, errors } = parseOrNothing(text);
  const field = Object(Object.values(Object(data))[0]);
  const proceeds = field.proceed === true;
  if (errors === undefined && question.isAnsweredBy(data, number)) return { outcome: 'data', proceeds };
  return { outcome: String(errors?.[0]?.extensions?.code ?? field.__typename ?? 'unreadable'), proceeds };
}

// biome-ignore lint/suspicious/noExplicitAny: whatever came; its parts are looked at one by one.
function parseOrNothing(text: string): any {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

export const isGood = ({ outcome }: Sample) => outcome === 'data';

/** May it go on although the service gave no verdict? */
export const isUnverified = ({ outcome, proceeds }: Pick<Sample, 'outcome' | 'proceeds'>) =>
  proceeds && outcome !== 'data';

/** The part of them that got the right answer; NaN of none. */
export function goodPart(samples: readonly Sample[]): number {
  return samples.filter(isGood).length / samples.length;
}

/** Right answers a second, counted by when they came, from `start` on for `ms`. */
export function goodput(samples: readonly Sample[], start: number, ms: number): number {
  const came = samples.filter((sample) => isGood(sample) && isWithin(sample.at + sample.ms, start, ms));
  return came.length / (ms / 1_000);
}

/** In ms. */
export function p99(samples: readonly Pick<Sample, 'ms'>[]): number {
  return percentile(
    samples.map(({ ms }) => ms),
    99,
  );
}

/** Those that were due from `start` on for `ms`. */
export function dueWithin(samples: readonly Sample[], start: number, ms: number): Sample[] {
  return samples.filter(({ at }) => isWithin(at, start, ms));
}

/** How often each outcome came, in words. */
export function describeOutcomes(samples: readonly Pick<Sample, 'outcome'>[]): string {
  return describeEach(samples.map(({ outcome }) => outcome));
}

/** How often each word came, the most frequent first; `none` without any. */
export function describeEach(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return describeCounts([...counts]) || 'none';
}

export function describeCounts(counts: readonly (readonly [word: string, count: number])[]): string {
  const sorted = counts.toSorted(([, one], [, other]) => other - one);
  return sorted.map(([word, count]) => `${count} ${word}`).join(', ');
}

function isWithin(time: number, start: number, ms: number): boolean {
  return time >= start && time < start + ms;
}

/** Change of `values` for each unit of `times`: the least-squares line. NaN of fewer than two. */
export function slope(times: readonly number[], values: readonly number[]): number {
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const [meanTime, meanValue] = [mean(times), mean(values)];
  const spread = times.reduce((sum, time) => sum + (time - meanTime) ** 2, 0);
  const together = times.reduce(
    (sum, time, at) => sum + (time - meanTime) * ((values[at] ?? Number.NaN) - meanValue),
    0,
  );
  return together / spread;
}
