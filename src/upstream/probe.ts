import { DeviceTrustError } from '../errors.ts';
import type { Resolver } from '../runtime/dns.ts';
import { type EventLoopMonitor, lagExcuses } from '../runtime/event-loop.ts';
import { pauseMs } from './pauses.ts';
import { UpstreamPool, type UpstreamResponse } from './transport.ts';
import { UnknownHostError } from './transport-errors.ts';

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
   * - `inconclusive`: anything that this process or its machine may have caused, or a limit of the service.
   */
  readonly kind: 'well' | 'refused' | 'no_such_host' | 'failed' | 'inconclusive';
  /** For the log. It is the code of the exception if the service answered with one. */
  readonly reason: string;
  /** How long the service asks not to be asked again, in ms. */
  readonly waitMs?: number;
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

/** What every probe needs. */
export interface ProbeTools {
  readonly resolver: Resolver;
  readonly eventLoop: Pick<EventLoopMonitor, 'totalLagMs'>;
  /** The deadline of a probe, in ms. */
  readonly timeoutMs: number;
  /** Called for each probe, once it is known what it has shown. */
  readonly onProbe?: (region: string, result: ProbeResult['kind']) => void;
}

/** No answer for this share of the deadline is silence, or for this time in ms if that is less. */
const SILENCE = { share: 0.4, maxMs: 1_300 };

/** How long a probe may go unanswered before that is silence, in ms. */
export function silenceMs(timeoutMs: number): number {
  return Math.min(timeoutMs * SILENCE.share, SILENCE.maxMs);
}

/**
 * Sends a probe on a connection of its own, so that no socket of a caller's request and no queue is involved. An abort ends it
 * at once, and then its result shows nothing.
 *
 * @param onSilence called once, if there is no answer for a part of the deadline and this is not our own fault
 */
export async function sendProbe(
  probe: Probe,
  { resolver, eventLoop, timeoutMs, signal }: ProbeTools & { readonly signal: AbortSignal },
  onSilence: (ms: number) => void,
): Promise<ProbeResult> {
  const { origin, path, headers, body } = probe;
  const startedAt = performance.now();
  const lagBeforeMs = eventLoop.totalLagMs();
  const pool = new UpstreamPool(origin, resolver);
  const pending = pool.post({ path, headers, body: body() });
  const isOurFault = () => {
    const elapsedMs = performance.now() - startedAt;
    return lagExcuses(eventLoop.totalLagMs() - lagBeforeMs, elapsedMs) || pending.lookupMs > elapsedMs / 4;
  };
  const silentAfterMs = silenceMs(timeoutMs);
  const expired = new DeviceTrustError('UPSTREAM_TIMEOUT', { internal: `no answer within ${timeoutMs} ms` });
  const isExcused = () => signal.aborted || isOurFault();
  let isOver = false;
  const reportSilence = () => {
    if (isOver) return;
    if (!isExcused()) onSilence(silentAfterMs);
    // After a lag of our own it takes longer until the silence says something about the service.
    else silence = setTimeout(listen, silentAfterMs / 2);
  };
  // After a lag, an answer that has arrived meanwhile is read first.
  const listen = () => setImmediate(reportSilence);
  let silence = setTimeout(listen, silentAfterMs);
  const deadline = setTimeout(() => setImmediate(() => pending.abort(expired)), timeoutMs);
  signal.addEventListener('abort', () => pending.abort(new DeviceTrustError('CANCELLED')));
  let response: UpstreamResponse;
  try {
    response = await pending.response;
  } catch (error) {
    if (!(error instanceof DeviceTrustError)) throw error;
    // That there is no such host is an answer of the resolver, however long it took.
    if (error instanceof UnknownHostError) return { kind: 'no_such_host', reason: error.internal ?? error.code };
    return isExcused() ? { kind: 'inconclusive', reason: 'this process was late' } : withoutAnswer(error);
  } finally {
    isOver = true;
    clearTimeout(silence);
    clearTimeout(deadline);
    await pool.close();
  }
  const result = probe.judge(response);
  return response.status === 429 ? { ...result, waitMs: pauseMs(response.retryAfter) } : result;
}

/** What a probe without an answer has shown. */
function withoutAnswer(error: DeviceTrustError): ProbeResult {
  const reason = error.internal ?? error.code;
  if (error.code === 'OVERLOADED') return { kind: 'inconclusive', reason };
  return { kind: error.code === 'UPSTREAM_REJECTED' ? 'refused' : 'failed', reason };
}
