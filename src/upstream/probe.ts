import { DeviceTrustError } from '../errors.ts';
import type { DnsCache } from '../runtime/dns.ts';
import { type EventLoop, startDeadline } from './deadline.ts';
import type { Evidence } from './health-table.ts';
import { openPool } from './pool.ts';
import type { Account, UpstreamResponse } from './transport.ts';

/** A request of our own, which costs nothing upstream. No caller influences it, so its result is about the service alone. */
export interface Probe extends Account {
  readonly body: () => string;
  readonly classify: (response: UpstreamResponse, body: string) => ProbeResult;
}

export interface ProbeResult {
  readonly evidence: Evidence;
  /** For the log. If the service answered with an exception, its code. */
  readonly reason: string;
}

export interface ProbeOptions {
  readonly dns: DnsCache;
  readonly eventLoop: EventLoop;
  readonly timeoutMs: number;
}

export const HEALTHY_PROBE: ProbeResult = { evidence: 'well', reason: '' };

/** The evidence of an answer whose body is undocumented, or unreadable for the reason `unreadable`. */
export function evidenceOfStatus(status: number, unreadable?: string): ProbeResult {
  const reason = `HTTP status ${status}`;
  // The service responds, but its answer cannot be read.
  if (unreadable !== undefined) return { evidence: 'inconclusive', reason: unreadable };
  if ([401, 403, 404].includes(status)) return { evidence: 'refused', reason };
  if (status === 429) return { evidence: 'limited', reason };
  // Any other 4xx is about this request, and shows no outage.
  if (status >= 400 && status < 500) return { evidence: 'inconclusive', reason };
  return { evidence: 'failed', reason: status === 200 ? 'an undocumented body' : reason };
}

/** Sends a probe on a connection of its own. If `signal` ends it, the result is a `local_failure`. */
export async function sendProbe(
  probe: Probe,
  { dns, eventLoop, timeoutMs }: ProbeOptions,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const body = probe.body();
  const pool = openPool(probe.origin, dns, timeoutMs);
  let deadline: ReturnType<typeof startDeadline> | undefined;
  try {
    await pool.lookUp();
    signal.throwIfAborted();
    deadline = startDeadline(timeoutMs, eventLoop, () => false, signal);
    return probe.classify(await pool.post(probe, body, deadline.signal).response, body);
  } catch (error) {
    if (signal.aborted) return { evidence: 'local_failure', reason: 'ended' };
    if (!(error instanceof DeviceTrustError)) throw error;
    const { code, why, internal: reason = code } = error;
    if (why === 'unknown_host') return { evidence: 'no_such_host', reason };
    if (code === 'OVERLOADED') return { evidence: 'local_failure', reason };
    if (deadline?.isOurDelay()) return { evidence: 'local_failure', reason: 'this process was late' };
    // A time-out is a failure even if a part of the response has arrived (captcha document, 7.3): a proxy may send the head for a
    // service that hangs.
    if (why !== undefined && code !== 'UPSTREAM_TIMEOUT')
      return { evidence: 'inconclusive', reason: `an unreadable response: ${reason}` };
    return { evidence: code === 'UPSTREAM_REJECTED' ? 'refused' : 'failed', reason };
  } finally {
    deadline?.stop();
    await pool.close();
  }
}
