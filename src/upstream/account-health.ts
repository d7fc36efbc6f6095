import { DeviceTrustError } from '../errors.ts';
import { type Evidence, type HealthStatus, NEW_ACCOUNT, statusAfter } from './health-table.ts';
import type { UpstreamMetrics } from './metrics.ts';
import { type Probe, type ProbeOptions, sendProbe } from './probe.ts';

/** Options that all accounts of a service share. */
export interface AccountOptions extends ProbeOptions {
  /** The name of the service, for the metrics and the log. */
  readonly service: string;
  readonly metrics: Pick<UpstreamMetrics, 'recordProbe'>;
}

/** Gets each change of an account's state or of its reason. */
type Report = (health: AccountHealth, before: HealthStatus) => void;

/** How often a half-open call is admitted in an outage and in a pause, in ms, as by a circuit breaker. */
const HALF_OPEN_INTERVAL_MS = 1_000;
/** The time between the first two probes, and the minimum between any two of an account, in ms. */
const MIN_INTERVAL_MS = 300;
/** The interval for an account that does not respond, or while another account of its service is down, in ms. */
const USUAL_INTERVAL_MS = 1_000;
/** The interval for an account that is refused, in ms. */
const REFUSED_INTERVAL_MS = 10_000;

/**
 * The health of one account, its probes, and the admission of its calls. Failed calls only start probes, because a bot can cause
 * them. The service is down once two probes in a row have failed, and nothing responded since the first one started.
 */
export class AccountHealth {
  readonly account: string;
  readonly probe: Probe;
  readonly #options: AccountOptions;
  readonly #report: Report;
  #status = NEW_ACCOUNT;
  /** The total duration of past outages and refusals, in ms. */
  #downMs = 0;
  /* Times on the clock of `performance.now()`. */
  #downSince = 0;
  #pausedUntil = 0;
  #respondedAt = Number.NEGATIVE_INFINITY;
  #nextHalfOpenAt = 0;
  #lastProbeAt = Number.NEGATIVE_INFINITY;
  /** Sends the next probe; undefined if none is needed. */
  #probeTimer: NodeJS.Timeout | undefined;
  /** Aborts the probes in flight. */
  readonly #closing = new AbortController();

  constructor(account: string, probe: Probe, options: AccountOptions, report: Report) {
    this.account = account;
    this.probe = probe;
    this.#options = options;
    this.#report = report;
  }

  get status(): HealthStatus {
    return this.#status;
  }

  /** A clock that stands still in an outage and while the account is refused, in ms. */
  get msWithoutOutages(): number {
    return (isDown(this.#status) ? this.#downSince : performance.now()) - this.#downMs;
  }

  /**
   * Admits a call. In an outage or a pause one call a second goes through, because the service may reject only our probes.
   *
   * @param canBeSent is false if a limit of our own would stop the call anyway
   * @returns whether it is the half-open call of this second @throws UPSTREAM_UNAVAILABLE because of an `outage` or a `pause`
   */
  admit(canBeSent = true): boolean {
    const now = performance.now();
    const isDown = this.#status.state === 'outage';
    if (!isDown && now >= this.#pausedUntil) return false;
    if (!canBeSent || now < this.#nextHalfOpenAt) {
      const why = isDown ? 'outage' : 'pause';
      throw new DeviceTrustError('UPSTREAM_UNAVAILABLE', { why, internal: REASONS[why] });
    }
    this.#nextHalfOpenAt = now + HALF_OPEN_INTERVAL_MS;
    return true;
  }

  /** Admits another half-open call at once, because the last one was inconclusive. */
  halfOpenAgain(): void {
    this.#nextHalfOpenAt = 0;
  }

  /** Pauses the account after a 429, unless it responded within the last second: then the limit is about one caller. */
  pause(ms: number): void {
    this.startProbes();
    const now = performance.now();
    if (now < this.#respondedAt + HALF_OPEN_INTERVAL_MS) return;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#nextHalfOpenAt = now + HALF_OPEN_INTERVAL_MS;
  }

  /** Records that a call or a probe got a documented response that does not blame us. This ends an outage and a pause. */
  recordResponse(): void {
    clearTimeout(this.#probeTimer);
    this.#probeTimer = undefined;
    this.#pausedUntil = 0;
    this.#respondedAt = performance.now();
    if (this.#status.state !== 'well' || this.#status.pending) this.#change('well');
  }

  /** Sends probes until the account responds. If it is refused, the next one is sent as soon as possible. */
  startProbes(): void {
    const isFirst = this.#probeTimer === undefined;
    if (!isFirst && this.#status.state !== 'refused') return;
    this.#scheduleProbe(this.#lastProbeAt + MIN_INTERVAL_MS - performance.now(), isFirst);
  }

  startProbesIfStale(): void {
    if (performance.now() - this.#lastProbeAt >= USUAL_INTERVAL_MS && !this.#probeTimer) this.startProbes();
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#probeTimer);
  }

  /** The timer does not keep the process alive. */
  #scheduleProbe(ms: number, isFirst = false): void {
    clearTimeout(this.#probeTimer);
    if (this.#closing.signal.aborted) return;
    const send = () => {
      const intervalMs = this.#status.state === 'refused' ? REFUSED_INTERVAL_MS : USUAL_INTERVAL_MS;
      this.#scheduleProbe(isFirst ? MIN_INTERVAL_MS : intervalMs);
      void this.#sendProbe();
    };
    // Without a timer, so that many calls cannot postpone a probe that is due.
    if (ms <= 0) send();
    else this.#probeTimer = setTimeout(send, ms).unref();
  }

  /** Does not wait for the result of the last probe, so probes may overlap. */
  async #sendProbe(): Promise<void> {
    const { service, metrics } = this.#options;
    const { signal } = this.#closing;
    const sentAt = performance.now();
    this.#lastProbeAt = sentAt;
    const { evidence, reason } = await sendProbe(this.probe, this.#options, signal);
    if (signal.aborted) return;
    metrics.recordProbe(service, this.probe.region, evidence);
    if (evidence === 'well') return this.recordResponse();
    // A response since then, of a call or a probe, counts more.
    if (this.#respondedAt >= sentAt) return;
    this.#change(evidence, reason);
  }

  #change(evidence: Evidence, reason?: string): void {
    const before = this.#status;
    const after = statusAfter(before, evidence, reason);
    this.#status = after;
    if (after.state !== before.state) {
      if (isDown(before)) this.#downMs += performance.now() - this.#downSince;
      this.#downSince = performance.now();
    } else if (after.reason === before.reason) return;
    this.#report(this, before);
  }
}

const isDown = ({ state }: HealthStatus) => state === 'outage' || state === 'refused';

const REASONS = {
  outage: 'the service is down, as probes have confirmed',
  pause: 'account is paused, because the service answered 429',
};
