import type { Series } from './alert-series.ts';

/** When a rule fires, and when it does not. */
export interface Case {
  readonly when: string;
  readonly series: Series;
  /** The minutes between two values of a series; one if it is left out. */
  readonly everyMinutes?: number;
  /** What fires already in the minute in which it is silent. */
  readonly earlier?: readonly string[];
  /** A minute in which it is still, or again, silent, and one in which it fires. */
  readonly silent: number;
  readonly fires: number;
  /** What fires beside it, because it is about the same at a lower threshold. */
  readonly beside?: readonly string[];
}
