import type { QuestionName } from './questions.ts';
import type { Sample } from './samples.ts';

/** Load of one kind. */
export interface Stream {
  /** Where GraphQL is. */
  readonly url: string;
  readonly question: QuestionName;
  readonly ms: number;
  /** At most as many requests are under way; without a rate, always as many. */
  readonly connections: number;
  /** Requests per second, sent whatever comes back. */
  readonly rate?: number;
}

/** Streams that run at the same time. */
export type LoadJob = readonly Stream[];

/** What came back in each stream, in the order in which it came. */
export type LoadResult = readonly (readonly Sample[])[];
