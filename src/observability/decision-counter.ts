/** What a decision is counted by. A policy gives the same object for each decision of a rule. */
export interface CountedDecision {
  readonly action: string;
  readonly rule: string;
}

/** The labels of the metric. */
export interface DecisionLabels extends CountedDecision {
  readonly shadow: 'true' | 'false';
}

/** The series of the metric, as far as this counter changes them. */
interface Series {
  readonly inc: (labels: DecisionLabels & Record<string, string>, count: number) => void;
  readonly remove: (labels: DecisionLabels & Record<string, string>) => void;
}

/**
 * Counts decisions, and moves the counts into the metric when Prometheus reads it. Only the rules of the policy in use have
 * series: each exists from the start, so that the first decision is an increase, and ends with its rule.
 */
export class DecisionCounter {
  readonly #series: Series;
  readonly #counts = { decided: new Map<CountedDecision, number>(), shadow: new Map<CountedDecision, number>() };
  #shown: ReadonlyMap<string, DecisionLabels> = new Map();

  constructor(series: Series) {
    this.#series = series;
  }

  /** Counts one decision, or what a shadow rule would have decided. */
  increment(decision: CountedDecision, isShadow: boolean): void {
    const counts = isShadow ? this.#counts.shadow : this.#counts.decided;
    counts.set(decision, (counts.get(decision) ?? 0) + 1);
  }

  /** @param rules the labels of each rule of the policy in use, and of what it decides without one */
  flush(rules: readonly DecisionLabels[]): void {
    const shown = new Map(rules.map((labels) => [keyOf(labels), labels]));
    for (const [key, labels] of this.#shown) if (!shown.has(key)) this.#series.remove({ ...labels });
    for (const [key, labels] of shown) if (!this.#shown.has(key)) this.#series.inc({ ...labels }, 0);
    this.#shown = shown;
    for (const shadow of ['true', 'false'] as const) {
      const counts = shadow === 'true' ? this.#counts.shadow : this.#counts.decided;
      for (const [{ action, rule }, count] of counts) {
        const labels = { action, rule, shadow };
        // An operation that began with the former policy can end after it.
        if (shown.has(keyOf(labels))) this.#series.inc(labels, count);
      }
      counts.clear();
    }
  }
}

function keyOf({ action, rule, shadow }: DecisionLabels): string {
  return `${action} ${rule} ${shadow}`;
}
