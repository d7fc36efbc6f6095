import { DeviceTrustError } from '../errors.ts';
import type { EventLoopMonitor } from '../runtime/event-loop.ts';
import type { PendingRequest } from './transport.ts';

export type EventLoop = Pick<EventLoopMonitor, 'totalLagMs'> & Partial<Pick<EventLoopMonitor, 'watch'>>;

/** The least lag of this process that can excuse a late answer, in ms; half of the deadline if that is less. */
const MIN_LAG_MS = 250;

/**
 * Starts the deadline of a call or a probe. At its end `signal` aborts with UPSTREAM_TIMEOUT; with OVERLOADED if `pendingOf` has no
 * request yet, or if a lag of this process explains the delay: it sent the request late, or the request makes
 * progress in the turn after the deadline. No other lag excuses it: the requests of one client make us lag, and could hide an outage.
 */
export function startDeadline(
  ms: number,
  eventLoop: EventLoop,
  pendingOf: () => Pick<PendingRequest, 'progress'> | undefined,
  cancellation?: AbortSignal,
) {
  const ending = new AbortController();
  const startedAt = performance.now();
  const unwatch = eventLoop.watch?.();
  const lagBeforeMs = eventLoop.totalLagMs();
  const lagMs = () => eventLoop.totalLagMs() - lagBeforeMs;
  let lagUntilSentMs = 0;
  const cancel = () => ending.abort(cancellation?.reason);
  cancellation?.addEventListener('abort', cancel);
  const isOurDelay = (progressBefore: number | undefined): boolean => {
    const pending = pendingOf();
    if (!pending) return true;
    const elapsedMs = performance.now() - startedAt;
    const isLong = (lag: number) => lag > Math.max(elapsedMs / 4, Math.min(ms / 2, MIN_LAG_MS));
    return isLong(lagUntilSentMs) || (pending.progress !== progressBefore && isLong(lagMs()));
  };
  const timer = setTimeout(() => {
    const progress = pendingOf()?.progress;
    // `setImmediate` lets Node first read a response that arrived during a lag.
    setImmediate(() => {
      const [code, whose] = isOurDelay(progress)
        ? (['OVERLOADED', ': this process was late'] as const)
        : (['UPSTREAM_TIMEOUT', ''] as const);
      ending.abort(new DeviceTrustError(code, { internal: `no answer within ${ms} ms${whose}` }));
    });
  }, ms);
  return {
    signal: ending.signal,
    /** Records that the request was sent. */
    sent: (): void => {
      lagUntilSentMs = lagMs();
    },
    stop: () => {
      unwatch?.();
      clearTimeout(timer);
      cancellation?.removeEventListener('abort', cancel);
    },
  };
}
