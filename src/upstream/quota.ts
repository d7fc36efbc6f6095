import type { QuotaLimits } from '../callers/settings.ts';
import { type Callers, type Holder, sharesOf } from '../callers/shares.ts';
import { DeviceTrustError } from '../errors.ts';
import type { UpstreamMetrics, Window } from './metrics.ts';
import type { Count, Counters } from './quota-store.ts';

/** A limit for all callers, for all services together, or for one service. A window begins with its first call. */
interface Limit {
  readonly window: Window;
  readonly calls: number;
  /** The callers that are limited, as a part of the key of a count; empty for all callers. */
  readonly callerKey: string;
}

export type Quota = ReturnType<typeof createQuota>;

const WINDOWS = [
  { window: 'second', key: 'perSecond' },
  { window: 'day', key: 'perDay' },
] as const;

/** The quota of one service, by account, with these limits for all callers. */
export function createQuota(
  service: string,
  limits: QuotaLimits,
  callers: Callers,
  metrics: Pick<UpstreamMetrics, 'recordQuotaExceeded'>,
  counters: Counters,
) {
  /** The calls in a window, also refused ones, by the last answer. `endsAt` is on the clock of `performance.now()`. */
  const counts = new Map<string, { readonly calls: number; readonly endsAt: number }>();
  const forAll = WINDOWS.flatMap(({ window, key }): Limit[] => {
    const calls = limits[key];
    return calls === undefined ? [] : [{ window, calls, callerKey: '' }];
  });

  /**
   * The limits of a caller, in the order in which they count a call: seconds before days, so that a call refused by the limit of
   * a second is not counted for the day, and in each window the service's own limit before the shared limits.
   */
  function limitsOf({ name, isService }: Holder): readonly Limit[] {
    if (!isService) return forAll;
    return WINDOWS.flatMap(({ window, key }) => {
      const total = limits[key] ?? Number.POSITIVE_INFINITY;
      const { together, each } = sharesOf(total, callers);
      const calls = Math.floor(Math.min(each, callers.services.get(name)?.[key] ?? Number.POSITIVE_INFINITY));
      const ofServices = [
        { window, calls, callerKey: `:service:${name}` },
        { window, calls: Math.floor(together), callerKey: ':services' },
      ];
      return [
        ...ofServices.filter((limit) => limit.calls < total),
        ...forAll.filter((limit) => limit.window === window),
      ];
    });
  }

  const keyOf = (account: string, { window, callerKey }: Limit) =>
    `device-trust:${service}:${window}${callerKey}:${account}`;

  return {
    /** Counts a call that is about to be sent. @throws QUOTA_EXCEEDED beyond a limit */
    take: async (account: string, caller: Holder) => {
      const startedAt = performance.now();
      const ofDay: Count[] = [];
      for (const limit of limitsOf(caller)) {
        const { window, calls, callerKey } = limit;
        const key = keyOf(account, limit);
        const count = await counters[window](key, performance.now() - startedAt);
        counts.set(key, { calls: count.calls, endsAt: performance.now() + count.msBeforeNext });
        if (window === 'day') ofDay.push(count);
        if (count.calls <= calls) continue;
        // A refused call uses up no quota of a day: neither one that is raised later, nor that of the calling service.
        for (const counted of ofDay) void counted.takeBack();
        metrics.recordQuotaExceeded(service, window);
        const internal = `quota of ${calls} calls a ${window}${callerKey.replace(/:/g, ' ')} is used up for account ${account}`;
        // Retries within the same day would all fail.
        throw new DeviceTrustError('QUOTA_EXCEEDED', { internal, ...(window === 'day' && { retryable: false }) });
      }
    },
    /** Each limit for all callers, with the rest of the account that has the least left. */
    states: (accounts: readonly string[]) =>
      forAll.map((limit) => {
        const known = accounts.map((account) => counts.get(keyOf(account, limit)));
        const calls = known.map((count) => (count && performance.now() < count.endsAt ? count.calls : 0));
        return [limit.window, { limit: limit.calls, left: Math.max(0, limit.calls - Math.max(0, ...calls)) }] as const;
      }),
  };
}
