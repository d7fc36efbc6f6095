import { DeviceTrustError } from '../errors.ts';
import type { Resolver } from '../runtime/dns.ts';
import { type EventLoopMonitor, isOurDelay } from '../runtime/event-loop.ts';
import { UnknownHostError, UpstreamPool, type UpstreamResponse } from './transport.ts';

/**
 * A question of our own to one account, which costs nothing upstream. No caller can influence its content or its
 * connection, so its answer says something about the service.
 */
export interface Probe {
  readonly region: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: () => string;
  readonly judge: (response: UpstreamResponse) => ProbeResult;
}

/** What a probe has shown about an account. */
export interface ProbeResult {
  /**
   * - `well`: a documented answer that does not blame us.
   * - `refused`: an answer that blames our account, address or certificates.
   * - `no_such_host`: the resolver says that the host does not exist.
   * - `failed`: what an outage looks like.
   * - `inconclusive`: another answer, such as one about a limit of the service.
   * - `own_failure`: anything that this process or its machine may have caused.
   */
  readonly kind: 'well' | 'refused' | 'no_such_host' | 'failed' | 'inconclusive' | 'own_failure';
  /** For the log. It is the code of the exception if the service answered with one. */
  readonly reason: string;
}

/** The result for a documented answer that does not blame us. */
export const WELL: ProbeResult = { kind: 'well', reason: '' };

/** What an answer shows whose body is none of the documented ones. */
export function judgeStatus(status: number): ProbeResult {
  const reason = `HTTP status ${status}`;
  if ([401, 403, 404].includes(status)) return { kind: 'refused', reason };
  // Any other 4xx is about this request, or about how many there are, and so no outage.
  if (status >= 400 && status < 500) return { kind: 'inconclusive', reason };
  return { kind: 'failed', reason: status === 200 ? 'an undocumented body' : reason };
}

export interface ProbeOptions {
  readonly resolver: Resolver;
  readonly eventLoop: Pick<EventLoopMonitor, 'totalLagMs'>;
  /** The deadline of a probe, in ms. */
  readonly timeoutMs: number;
}

/**
 * Sends a probe on a connection of its own, so that no socket of a caller's request and no queue is involved.
 *
 * @param signal ends it at once, and then its result shows nothing
 */
export async function sendProbe(
  { origin, path, headers, body, judge }: Probe,
  { resolver, eventLoop, timeoutMs }: ProbeOptions,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const startedAt = performance.now();
  const lagBeforeMs = eventLoop.totalLagMs();
  const pool = new UpstreamPool(origin, resolver);
  const pending = pool.post({ path, headers, body: body() });
  const cancel = () => pending.abort(new DeviceTrustError('CANCELLED'));
  const expire = () =>
    pending.abort(new DeviceTrustError('UPSTREAM_TIMEOUT', { internal: `no answer within ${timeoutMs} ms` }));
  // After a lag, an answer that has arrived meanwhile is read first.
  const deadline = setTimeout(() => setImmediate(expire), timeoutMs);
  signal.addEventListener('abort', cancel);
  try {
    return judge(await pending.response);
  } catch (error) {
    if (!(error instanceof DeviceTrustError)) throw error;
    const reason = error.internal ?? error.code;
    // That there is no such host is an answer of the resolver, however long it took.
    if (error instanceof UnknownHostError) return { kind: 'no_such_host', reason };
    const delay = { lagMs: eventLoop.totalLagMs() - lagBeforeMs, lookupMs: pending.lookupMs };
    if (isOurDelay(delay, performance.now() - startedAt))
      return { kind: 'own_failure', reason: 'this process was late' };
    if (signal.aborted || error.code === 'OVERLOADED') return { kind: 'own_failure', reason };
    return { kind: error.code === 'UPSTREAM_REJECTED' ? 'refused' : 'failed', reason };
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', cancel);
    await pool.close();
  }
}
