/** Columns as wide as they have to be: the first one to the left, the others to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  const pad = (cell: string, at: number) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0));
  return lines.map((line) => `  ${line.map(pad).join('  ')}`.trimEnd()).join('\n');
}

/** The same for a README. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** A dash stands for what was not measured. */
export function fixed(value: number | undefined, decimals: number): string {
  return value === undefined || Number.isNaN(value) ? '-' : value.toFixed(decimals);
}

export function percent(part: number): string {
  return Number.isNaN(part) ? '-' : `${Math.round(part * 100)} %`;
}
