import { integer, type Table, type Values } from '../config/values.ts';

/** The variables of an operation's cost, and the scope of the graph. */

export const COST_VARIABLES = {
  maxRepresentations: { name: 'MAX_REPRESENTATIONS', ...integer(1, 100_000), default: '1000' },
  maxCost: { name: 'MAX_COST', ...integer(100, 10_000_000), default: '119000' },
} as const satisfies Table;

/**
 * `maxCost` counts lists as they turn out. Its default of 119,000 lets everything about 1,000 references through: each
 * costs 107, and their text 12,000 in all. A field takes about 1 µs, so this is some 120 ms.
 */
export type CostLimits = Values<typeof COST_VARIABLES>;

/** The scope for everything with the tag `risk`. */
export const RISK_SCOPE = 'risk:read';
