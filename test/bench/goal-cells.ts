import type { Goal } from './goals.ts';
import { fixed } from './table.ts';

/** A row of the table of goals, the same for a person and for the README. */

export const goalHead = ['goal', 'wanted', 'measured', '95 %', 'met'] as const;

export function goalCells({ text, unit, wanted, isAtLeast, measured, low, high, met }: Goal): string[] {
  const withUnit = (value: string) => (unit === '' ? value : `${value} ${unit}`);
  return [
    text,
    `${isAtLeast ? 'at least' : 'at most'} ${withUnit(String(wanted))}`,
    withUnit(fixed(measured, 2)),
    low === undefined ? '' : `${fixed(low, 2)} to ${fixed(high, 2)}`,
    met ? 'yes' : 'no',
  ];
}
