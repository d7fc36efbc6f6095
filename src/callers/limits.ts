import type { z } from 'zod';
import { entryOf, number } from '../config/json-values.ts';
import { type Callers, type Holder, sharesOf } from './shares.ts';

/** A count that a call adds to, and the most calls that it may have in its window. A window begins with its first call. */
interface Share {
  /** Whose calls are counted, as a part of the key of the count; empty for all callers. */
  readonly callerKey: string;
  readonly calls: number;
}

interface Limit {
  /** Its key in the variables. */
  readonly name: string;
  /** Its label in metrics, and a part of the keys of its counts. */
  readonly window: string;
  readonly seconds: number;
  /** Does the window outlast a client's retries? Then a refused call is not retryable, and is taken back from every long window. */
  readonly isLong: boolean;
  /** The counts of a call: by the limit for all callers, and by the own limit of the calling service. */
  readonly shares: (total: number | undefined, own: number | undefined, caller: Holder, callers: Callers) => Share[];
  /** The code beyond the limit. */
  readonly code: string;
}

/** The limits of the calls for one account, in the order in which they count a call: what a second refuses does not count for the day. */
export const LIMITS = [
  { name: 'perSecond', window: 'second', seconds: 1, isLong: false, shares: ofCallers, code: 'QUOTA_EXCEEDED' },
  { name: 'perDay', window: 'day', seconds: 86_400, isLong: true, shares: ofCallers, code: 'QUOTA_EXCEEDED' },
] as const satisfies readonly Limit[];

/** Counts the calls of all callers; before, those of a service, and of all services together, as far as they have less. */
function ofCallers(
  total = Number.POSITIVE_INFINITY,
  own = Number.POSITIVE_INFINITY,
  { name, isService }: Holder,
  callers: Callers,
): Share[] {
  const { together, each } = sharesOf(total, callers);
  const ofServices = [
    { callerKey: `:service:${name}`, calls: Math.floor(Math.min(each, own)) },
    { callerKey: ':services', calls: Math.floor(together) },
  ].filter(({ calls }) => isService && calls < total);
  return total === Number.POSITIVE_INFINITY ? ofServices : [...ofServices, { callerKey: '', calls: total }];
}

const calls = number(1, 999_999_999).optional();
// Safe: Object.fromEntries forgets the names of the keys.
const shape = Object.fromEntries(LIMITS.map(({ name }) => [name, calls])) as Record<LimitName, typeof calls>;
type LimitName = (typeof LIMITS)[number]['name'];

/** How many calls may be sent for one account. */
export const quotaLimits = entryOf(shape).refine((given) => Object.keys(given).length > 0, {
  error: `expected ${LIMITS.map(({ name }) => name).join(' or ')}`,
});
export type QuotaLimits = z.output<typeof quotaLimits>;
