import { integer, type Table, type Values } from '../config/values.ts';

export const COST_VARIABLES = {
  maxRepresentations: { name: 'MAX_REPRESENTATIONS', ...integer(1, 100_000), default: '1000' },
  maxCost: { name: 'MAX_COST', ...integer(100, 10_000_000), default: '119000' },
} as const satisfies Table;

/** The default of `maxCost` lets through all fields of 1,000 references at 107 each, and 12,000 for their text: some 120 ms. */
export type CostLimits = Values<typeof COST_VARIABLES>;
