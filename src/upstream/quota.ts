import { LIMITS, ofRequester, type QuotaLimits, type Share } from '../callers/limits.ts';
import type { Callers, Holder } from '../callers/shares.ts';
import { DeviceTrustError } from '../errors.ts';
import type { UpstreamMetrics } from './metrics.ts';
import type { Count, Counter } from './quota-store.ts';

export type Quota = ReturnType<typeof createQuota>;

/** The quota of one service, by account, with these limits for all callers. */
export function createQuota(
  service: string,
  limits: QuotaLimits,
  callers: Callers,
  metrics: Pick<UpstreamMetrics, 'recordQuotaExceeded'>,
  counter: Counter,
) {
  /** The calls of all callers in a window, refused ones included, by the last answer. `endsAt` is on the clock of `performance.now()`. */
  const counts = new Map<string, { readonly calls: number; readonly endsAt: number }>();
  const all = [limits, ...callers.services.values()];
  const inUse = LIMITS.filter(({ name }) => all.some((given) => given?.[name] !== undefined));

  /** The counts of the calls of each caller for each account, which never change. Those of a requester are not kept. */
  const known = new Map<string, readonly Share[]>();

  function sharesFor({ name, window, shares }: (typeof LIMITS)[number], account: string, caller: Holder) {
    const id = `${window} ${account} ${caller.name}`;
    const kept = known.get(id);
    if (kept) return kept;
    const given = { total: limits[name], own: callers.services.get(caller.name)?.[name] };
    const found = shares(given, account, caller, callers).map(({ key, of, calls }) => ({
      key: `device-trust:${service}:${window}${key}`,
      of,
      calls,
    }));
    if (shares !== ofRequester) known.set(id, found);
    return found;
  }

  return {
    /** The windows of its limits. */
    windows: inUse.map(({ window }) => window),
    /** Counts a call that is about to be sent. @throws the error of the first limit that it exceeds */
    take: async (account: string, caller: Holder) => {
      const startedAt = performance.now();
      const refundable: Count[] = [];
      for (const limit of inUse)
        for (const { key, of, calls } of sharesFor(limit, account, caller)) {
          const { window, seconds, code, isRetryable, isRefundable } = limit;
          const count = await counter(key, seconds, performance.now() - startedAt);
          if (of === '') counts.set(key, { calls: count.calls, endsAt: performance.now() + count.msBeforeNext });
          if (isRefundable) refundable.push(count);
          if (count.calls <= calls) continue;
          // A refused call uses up neither a limit that is raised later, nor that of the calling service.
          for (const counted of refundable) void counted.takeBack();
          metrics.recordQuotaExceeded(service, window);
          const internal = `quota of ${calls} calls a ${window}${of && ` ${of}`} is used up for account ${account}`;
          throw new DeviceTrustError(code, { internal, ...(!isRetryable && { retryable: false }) });
        }
    },
    /** Each limit for all callers, with the calls left to the account that has the fewest. */
    states: (accounts: readonly string[]) =>
      inUse.flatMap((limit) => {
        const shares = accounts.flatMap((account) => sharesFor(limit, account, { name: '', isService: false }));
        const left = shares.map(({ key, calls }) => {
          const count = counts.get(key);
          return Math.max(0, calls - (count && performance.now() < count.endsAt ? count.calls : 0));
        });
        return shares
          .slice(0, 1)
          .map(({ calls }) => [limit.window, { limit: calls, left: Math.min(...left) }] as const);
      }),
  };
}
