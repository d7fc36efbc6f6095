import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { entryOf, number } from '../config/json-values.ts';
import { type Callers, type Holder, sharesOf } from './shares.ts';

/** A count to which a call adds, and its maximum in a window. A window begins with its first call. */
export interface Share {
  /** Whose calls are counted, for the log; empty for all callers. */
  readonly of: string;
  /** Part of the count's key. */
  readonly key: string;
  readonly calls: number;
}

interface Limit {
  /** Its key in the variables. */
  readonly name: string;
  /** Its label in metrics, and part of the keys of its counts. */
  readonly window: string;
  readonly seconds: number;
  /** The code beyond the limit, and whether the same call can succeed soon. */
  readonly code: string;
  readonly isRetryable: boolean;
  /** Is a call's count taken back if this limit or a later one refuses the call? */
  readonly isRefundable: boolean;
  /** The counts of a call, by the limit for all callers and by the calling service's own. */
  readonly shares: (limit: Given, account: string, caller: Holder, callers: Callers) => Share[];
}

/** The values of a limit: for all callers, and the calling service's own. */
type Given = Readonly<Record<'total' | 'own', number | undefined>>;

const QUOTA = { code: 'QUOTA_EXCEEDED', shares: ofCallers } as const;

/** The limits of calls, in the order in which they count a call: a call that `perSecond` refuses does not count for the day. */
export const LIMITS = [
  {
    name: 'perMinuteOfPerson',
    window: 'minute',
    seconds: 60,
    code: 'RATE_LIMITED',
    isRetryable: true,
    isRefundable: true,
    shares: ofRequester,
  },
  { name: 'perSecond', window: 'second', seconds: 1, ...QUOTA, isRetryable: true, isRefundable: false },
  { name: 'perDay', window: 'day', seconds: 86_400, ...QUOTA, isRetryable: false, isRefundable: true },
] as const satisfies readonly Limit[];

/** Counts the calls of one account: first those of the service and of all services, if their share is smaller, then all. */
function ofCallers(
  { total = Number.POSITIVE_INFINITY, own = Number.POSITIVE_INFINITY }: Given,
  account: string,
  { name, isService }: Holder,
  callers: Callers,
): Share[] {
  const { together, each } = sharesOf(total, callers);
  const ofServices = [
    { of: `service ${name}`, key: `:service:${name}:${account}`, calls: Math.floor(Math.min(each, own)) },
    { of: 'services', key: `:services:${account}`, calls: Math.floor(together) },
  ].filter(({ calls }) => isService && calls < total);
  return total === Number.POSITIVE_INFINITY
    ? ofServices
    : [...ofServices, { of: '', key: `:${account}`, calls: total }];
}

/**
 * Counts the calls of one person or network at all accounts, because the client chooses the account. Each service has counts of its own,
 * because it names its requesters itself; if it names nobody, nothing is counted. All requests of the router that name nobody share one
 * count: otherwise bots would name nobody.
 */
export function ofRequester(
  { total = Number.POSITIVE_INFINITY, own = Number.POSITIVE_INFINITY }: Given,
  _account: string,
  { name, isService, requester }: Holder,
): Share[] {
  const calls = Math.min(total, own);
  if (!Number.isFinite(calls) || !requester || (isService && requester.kind === 'anonymous')) return [];
  // Hashed, because the store needs no identities.
  const id = createHash('sha256').update(`${requester.kind} ${requester.id}`).digest('base64url');
  return [{ of: requester.kind, key: `:${isService ? `service:${name}` : 'router'}:${id}`, calls }];
}

const calls = number(1, 999_999_999).optional();
// Safe: Object.fromEntries forgets the names of the keys.
const shape = Object.fromEntries(LIMITS.map(({ name }) => [name, calls])) as Record<LimitName, typeof calls>;
type LimitName = (typeof LIMITS)[number]['name'];

/** How many calls may be sent. */
export const quotaLimits = entryOf(shape).refine((given) => Object.keys(given).length > 0, {
  error: `expected ${LIMITS.map(({ name }) => name).join(' or ')}`,
});
export type QuotaLimits = z.output<typeof quotaLimits>;
