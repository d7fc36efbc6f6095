import { parser } from '@prometheus-io/lezer-promql';

/** PromQL, read with the grammar of Prometheus's own editor. */

/** Every piece of these kinds in an expression, in its order. */
function piecesOf(expression: string, kinds: readonly string[]): string[] {
  const pieces: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ name, from, to }) => {
      if (kinds.includes(name)) pieces.push(expression.slice(from, to));
    },
  });
  return pieces;
}

/** Is this PromQL? What the grammar does not know is a `⚠` to it. */
export function isPromql(expression: string): boolean {
  return expression.trim() !== '' && piecesOf(expression, ['⚠']).length === 0;
}

/** Every selector of an expression, such as `up{job="a"}`. */
export function selectorsIn(expression: string): string[] {
  return piecesOf(expression, ['VectorSelector']);
}

/** The names of all series that an expression reads, each once; of a histogram `…_seconds_bucket` and the like. */
export function metricNamesIn(expression: string): string[] {
  return [...new Set(selectorsIn(expression).map((selector) => selector.replace(/\{.*/s, '')))];
}

/** The names of all labels that an expression selects or groups by, each once. */
export function labelNamesIn(expression: string): string[] {
  return [...new Set(piecesOf(expression, ['LabelName']))];
}

/** The values that an expression compares a label with; of a pattern each alternative. */
export function valuesOf(label: string, expression: string): string[] {
  const matchers = piecesOf(expression, ['UnquotedLabelMatcher']).map((matcher) =>
    /^(\w+)\s*[=!]~?\s*"(.*)"$/.exec(matcher),
  );
  return matchers.flatMap((match) => (match?.[1] === label ? (match[2] ?? '').split('|') : []));
}
