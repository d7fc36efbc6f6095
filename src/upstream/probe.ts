import { DeviceTrustError } from '../errors.ts';
import type { DnsCache } from '../runtime/dns.ts';
import { type EventLoop, startDeadline } from './deadline.ts';
import type { Evidence } from './health-table.ts';
import { openPool } from './pool.ts';
import type { Account, PendingRequest, UpstreamResponse } from './transport.ts';
import { isUpstreamFailure } from './transport-errors.ts';

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

/** The evidence of an answer whose body is not documented: a firewall, which a bot can provoke, may give any but a 5xx. */
export function evidenceOfStatus(status: number): Evidence {
  if (status === 429) return 'limited';
  return status >= 500 ? 'failed' : 'inconclusive';
}

/** The evidence of a call or a probe without a response. The head of a 200 alone shows nothing: a proxy may send it for a service that hangs. */
export function evidenceOfError(error: unknown): Evidence {
  if (!isUpstreamFailure(error) || error.why === 'outage' || error.why === 'pause') return 'local_failure';
  if (error.why === 'unknown_host') return 'no_such_host';
  if (error.why === 'unreadable' || error.why === 'incomplete' || error.code === 'UPSTREAM_PROTOCOL_ERROR')
    return 'inconclusive';
  return error.code === 'UPSTREAM_REJECTED' ? 'undocumented_refusal' : 'failed';
}

const NOT_THE_SERVICE: ProbeResult = {
  evidence: 'local_failure',
  reason: 'an address fails, and another one of the name may work',
};

/** Each probe of an account begins at another address, because it does not wait for the result of the last one. */
const turns = new WeakMap<Probe, number>();

/** Sends a probe on a connection of its own. If `signal` ends it, the result is a `local_failure`. */
export async function sendProbe(
  probe: Probe,
  { dns, eventLoop, timeoutMs }: ProbeOptions,
  signal: AbortSignal,
): Promise<ProbeResult & Pick<UpstreamResponse, 'retryAfterMs'>> {
  const body = probe.body();
  const turn = turns.get(probe) ?? 0;
  turns.set(probe, turn + 1);
  const pool = openPool(probe.origin, dns, { timeoutMs, turn });
  let pending: PendingRequest | undefined;
  let deadline: ReturnType<typeof startDeadline> | undefined;
  // A failure is about the address, then about the name, and only then about the service.
  const resultOf = async (result: ProbeResult) =>
    result.evidence !== 'failed' || (await pool.blame()) ? result : NOT_THE_SERVICE;
  try {
    await pool.lookUp();
    signal.throwIfAborted();
    deadline = startDeadline(timeoutMs, eventLoop, () => pending, signal);
    pending = pool.post(probe, body, deadline.signal);
    pending.whenOpened(deadline.sent);
    const response = await pending.response;
    const { evidence, reason } = probe.classify(response, body);
    // No client can provoke this response.
    if (evidence === 'answered') return { evidence: 'well', reason: '' };
    if (evidence !== 'well') pool.demote();
    return { ...(await resultOf({ evidence, reason })), retryAfterMs: response.retryAfterMs };
  } catch (error) {
    if (signal.aborted) return { evidence: 'local_failure', reason: 'ended' };
    if (!(error instanceof DeviceTrustError)) throw error;
    const { code, internal = code } = error;
    return resultOf({ evidence: evidenceOfError(error), reason: internal });
  } finally {
    deadline?.stop();
    await pool.close();
  }
}
