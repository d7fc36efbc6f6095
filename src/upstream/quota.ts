import { LIMITS, type QuotaLimits } from '../callers/limits.ts';
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
  /** The calls of all callers in a window, also refused ones, by the last answer. `endsAt` is on the clock of `performance.now()`. */
  const counts = new Map<string, { readonly calls: number; readonly endsAt: number }>();

  const limitsOf = (caller: Holder) =>
    LIMITS.flatMap((limit) => {
      const own = callers.services.get(caller.name)?.[limit.name];
      return limit.shares(limits[limit.name], own, caller, callers).map((share) => ({ ...limit, ...share }));
    });
  const forAll = limitsOf({ name: '', isService: false });

  const keyOf = (account: string, { window, callerKey }: (typeof forAll)[number]) =>
    `device-trust:${service}:${window}${callerKey}:${account}`;

  return {
    /** Counts a call that is about to be sent. @throws the error of the first limit that it exceeds */
    take: async (account: string, caller: Holder) => {
      const startedAt = performance.now();
      const ofLong: Count[] = [];
      for (const limit of limitsOf(caller)) {
        const { window, seconds, calls, callerKey, code, isLong } = limit;
        const key = keyOf(account, limit);
        const count = await counter(key, seconds, performance.now() - startedAt);
        if (callerKey === '') counts.set(key, { calls: count.calls, endsAt: performance.now() + count.msBeforeNext });
        if (isLong) ofLong.push(count);
        if (count.calls <= calls) continue;
        // A refused call uses up neither a limit that is raised later, nor that of the calling service.
        for (const counted of ofLong) void counted.takeBack();
        metrics.recordQuotaExceeded(service, window);
        const internal = `quota of ${calls} calls a ${window}${callerKey.replace(/:/g, ' ')} is used up for account ${account}`;
        throw new DeviceTrustError(code, { internal, ...(isLong && { retryable: false }) });
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
