import { DeviceTrustError } from '../errors.ts';
import type { EventLoopMonitor } from '../runtime/event-loop.ts';

export type EventLoop = Pick<EventLoopMonitor, 'totalLagMs'> & Partial<Pick<EventLoopMonitor, 'watch'>>;

/** The least lag of this process that excuses a late answer, in ms; half of the deadline if that is less. */
const MIN_LAG_MS = 250;

/** Starts the deadline of a call or a probe. At its end `signal` aborts with OVERLOADED if `isOurFault`, else UPSTREAM_TIMEOUT. */
export function startDeadline(ms: number, eventLoop: EventLoop, isOurFault: () => boolean, cancellation?: AbortSignal) {
  const ending = new AbortController();
  const startedAt = performance.now();
  const unwatch = eventLoop.watch?.();
  const lagBeforeMs = eventLoop.totalLagMs();
  const cancel = () => ending.abort(cancellation?.reason);
  cancellation?.addEventListener('abort', cancel);
  const expire = () => {
    const code = isOurFault() ? 'OVERLOADED' : 'UPSTREAM_TIMEOUT';
    ending.abort(new DeviceTrustError(code, { internal: `no answer within ${ms} ms` }));
  };
  // `setImmediate` lets Node first read a response that arrived during a lag.
  const timer = setTimeout(() => setImmediate(expire), ms);
  return {
    signal: ending.signal,
    /** Did this process cause the delay? Otherwise its load would look like an outage of the service. */
    isOurDelay: (): boolean => {
      const lagMs = eventLoop.totalLagMs() - lagBeforeMs;
      const elapsedMs = performance.now() - startedAt;
      return lagMs > Math.max(elapsedMs / 4, Math.min(ms / 2, MIN_LAG_MS));
    },
    stop: () => {
      unwatch?.();
      clearTimeout(timer);
      cancellation?.removeEventListener('abort', cancel);
    },
  };
}
