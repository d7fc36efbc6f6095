import { DeviceTrustError } from '../errors.ts';
import type { DnsCache } from '../runtime/dns.ts';
import { Deadline, type EventLoopMonitor } from '../runtime/event-loop.ts';
import type { Evidence } from './health-table.ts';
import { UpstreamPool, type UpstreamResponse } from './transport.ts';

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
  readonly classify: (response: UpstreamResponse) => ProbeResult;
}

/** What a probe has shown about an account. */
export interface ProbeResult {
  readonly evidence: Evidence;
  /** For the log. It is the code of the exception if the service answered with one. */
  readonly reason: string;
}

/** The result for a documented answer that does not blame us. */
export const WELL: ProbeResult = { evidence: 'well', reason: '' };

/** What an answer shows whose body is none of the documented ones. */
export function evidenceOfStatus(status: number): ProbeResult {
  const reason = `HTTP status ${status}`;
  if ([401, 403, 404].includes(status)) return { evidence: 'refused', reason };
  // Any other 4xx is about this request, or about how many there are, and so no outage.
  if (status >= 400 && status < 500) return { evidence: 'inconclusive', reason };
  return { evidence: 'failed', reason: status === 200 ? 'an undocumented body' : reason };
}

export interface ProbeOptions {
  readonly dns: DnsCache;
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
  { origin, path, headers, body, classify }: Probe,
  { dns, eventLoop, timeoutMs }: ProbeOptions,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const expired = () => new DeviceTrustError('UPSTREAM_TIMEOUT', { internal: `no answer within ${timeoutMs} ms` });
  const deadline = new Deadline(timeoutMs, eventLoop, expired, signal);
  const pool = new UpstreamPool(origin, dns);
  const pending = pool.post({ path, headers, body: body() }, deadline.signal);
  try {
    return classify(await pending.response);
  } catch (error) {
    // Nobody asks for the result of one that was ended.
    if (signal.aborted) return { evidence: 'own_failure', reason: 'ended' };
    if (!(error instanceof DeviceTrustError)) throw error;
    const { code, why, internal: reason = code } = error;
    // That there is no such host is an answer of the look-up, however long it took.
    if (why === 'unknown_host') return { evidence: 'no_such_host', reason };
    if (deadline.isOurDelay(pending.lookupMs)) return { evidence: 'own_failure', reason: 'this process was late' };
    if (code === 'OVERLOADED') return { evidence: 'own_failure', reason };
    return { evidence: code === 'UPSTREAM_REJECTED' ? 'refused' : 'failed', reason };
  } finally {
    deadline.stop();
    await pool.close();
  }
}
