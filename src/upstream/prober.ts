import { DeviceTrustError } from '../errors.ts';
import type { DnsCache } from '../runtime/dns.ts';
import type { Account } from './call.ts';
import { type EventLoop, startDeadline } from './deadline.ts';
import type { Evidence } from './health-table.ts';
import type { UpstreamMetrics } from './metrics.ts';
import { UpstreamPool, type UpstreamResponse } from './transport.ts';

/** A request of our own, which costs nothing upstream. No caller influences it, so its result is about the service alone. */
export interface Probe extends Omit<Account, 'id'> {
  readonly body: () => string;
  /** Classifies the response to this body. */
  readonly classify: (response: UpstreamResponse, body: string) => ProbeResult;
}

export interface ProbeResult {
  readonly evidence: Evidence;
  /** For the log. If the service answered with an exception, its code. */
  readonly reason: string;
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

const OUR_DELAY = 'this process, or its look-up of the host, was late';

/** Sends a probe on a connection of its own. If `signal` ends it, the result is a `local_failure`. */
export async function sendProbe(
  probe: Probe,
  options: Pick<ProberOptions, 'dns' | 'eventLoop' | 'timeoutMs'>,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const { origin, path, headers, classify } = probe;
  const body = probe.body();
  const { dns, eventLoop, timeoutMs } = options;
  const deadline = startDeadline(timeoutMs, eventLoop, () => false, signal);
  const pool = new UpstreamPool(origin, dns, timeoutMs);
  const pending = pool.post({ path, headers, body }, deadline.signal);
  try {
    return classify(await pending.response, body);
  } catch (error) {
    if (signal.aborted) return { evidence: 'local_failure', reason: 'ended' };
    if (!(error instanceof DeviceTrustError)) throw error;
    const { code, why, internal: reason = code } = error;
    // The resolver has answered, so its delay does not matter.
    if (why === 'unknown_host') return { evidence: 'no_such_host', reason };
    if (code === 'OVERLOADED') return { evidence: 'local_failure', reason };
    if (deadline.isOurDelay(pending.lookupMs)) return { evidence: 'local_failure', reason: OUR_DELAY };
    // A time-out is a failure whatever has arrived (captcha document, 7.3): a proxy may send the head of a service that hangs.
    if (why !== undefined && code !== 'UPSTREAM_TIMEOUT')
      return { evidence: 'inconclusive', reason: `an unreadable response: ${reason}` };
    return { evidence: code === 'UPSTREAM_REJECTED' ? 'refused' : 'failed', reason };
  } finally {
    deadline.stop();
    await pool.close();
  }
}

/** The time between the first two probes, and the minimum between any two of an account, in ms. */
const MIN_INTERVAL_MS = 300;
/** The interval for an account that does not respond, or while another account of its service is down, in ms. */
const USUAL_INTERVAL_MS = 1_000;
/** The interval for an account that is refused, in ms. */
const REFUSED_INTERVAL_MS = 10_000;

/** Options that all accounts of a service share. */
export interface ProberOptions {
  readonly dns: DnsCache;
  readonly eventLoop: EventLoop;
  readonly timeoutMs: number;
  /** The name of the service, for the metrics and the log. */
  readonly service: string;
  readonly metrics: Pick<UpstreamMetrics, 'recordProbe'>;
}

interface ProbedAccount {
  readonly isRefused: () => boolean;
  /** Receives the result of a probe. Only `well` counts if the account has responded since the probe started. */
  readonly conclude: (result: ProbeResult) => void;
}

/** Sends the probes of one account. A probe does not wait for the result of the last one, so probes may overlap. */
export class Prober {
  readonly #options: ProberOptions;
  readonly #account: ProbedAccount;
  readonly probe: Probe;
  /** Documented responses so far, of calls and of probes. */
  #responses = 0;
  #isRunning = false;
  #isClosed = false;
  #lastSentAt = Number.NEGATIVE_INFINITY;
  /** Aborts the probes in flight. */
  readonly #sending = new AbortController();
  /** Ends the wait for the next probe. */
  #wake = () => {};

  constructor(probe: Probe, options: ProberOptions, account: ProbedAccount) {
    this.probe = probe;
    this.#options = options;
    this.#account = account;
  }

  /** Sends probes until the account responds. */
  start(): void {
    if (this.#isClosed) return;
    if (!this.#isRunning) void this.#run();
    else if (this.#account.isRefused()) this.#wake();
  }

  startIfStale(): void {
    if (!this.#isRunning && performance.now() - this.#lastSentAt >= USUAL_INTERVAL_MS) this.start();
  }

  /** The account has responded, so no further probe is needed. */
  settle(): void {
    this.#responses += 1;
    this.#isRunning = false;
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#sending.abort();
    this.#wake();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const responsesBefore = this.#responses;
    const isOver = () => this.#isClosed || this.#responses !== responsesBefore;
    for (let isFirst = true; ; isFirst = false) {
      const leftMs = () => this.#lastSentAt + MIN_INTERVAL_MS - performance.now();
      for (let ms = leftMs(); ms > 0 && !isOver(); ms = leftMs()) await this.#sleep(ms);
      if (isOver()) break;
      this.#lastSentAt = performance.now();
      void this.#send();
      const intervalMs = this.#account.isRefused() ? REFUSED_INTERVAL_MS : USUAL_INTERVAL_MS;
      await this.#sleep(isFirst ? MIN_INTERVAL_MS : intervalMs);
    }
  }

  async #send(): Promise<void> {
    const { service, metrics } = this.#options;
    const { signal } = this.#sending;
    const responsesBefore = this.#responses;
    const { region } = this.probe;
    const result = await sendProbe(this.probe, this.#options, signal);
    // The process stops.
    if (signal.aborted) return;
    metrics.recordProbe(service, region, result.evidence);
    if (result.evidence === 'well' || this.#responses === responsesBefore) this.#account.conclude(result);
  }

  /** Waits for `#wake`, at most this long. It does not keep the process alive. */
  async #sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms).unref();
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }
}
