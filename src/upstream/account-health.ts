import { DeviceTrustError } from '../errors.ts';
import { type Evidence, type HealthStatus, NEW_ACCOUNT, statusAfter } from './health-table.ts';
import { type Probe, Prober, type ProberOptions } from './prober.ts';

export interface AccountObserver {
  report(health: AccountHealth, before: HealthStatus): void;
  /** Called about once a second while the account is down: the health of all other accounts has to be known too. */
  probeIfStale(): void;
}

/** How often a half-open call is admitted in an outage and in a pause, in ms, as by a circuit breaker. */
const HALF_OPEN_INTERVAL_MS = 1_000;

/**
 * The health of one account, and the admission of its calls. Failed calls only start probes, because a bot can cause them.
 * The service is down once two probes in a row have failed, and nothing responded since the first one started.
 */
export class AccountHealth {
  readonly account: string;
  readonly #observer: AccountObserver;
  readonly prober: Prober;
  #status = NEW_ACCOUNT;
  /** The total duration of past outages and refusals, in ms. */
  #downMs = 0;
  /* Times on the clock of `performance.now()`. */
  #downSince = 0;
  #pausedUntil = 0;
  #respondedAt = Number.NEGATIVE_INFINITY;
  #nextHalfOpenAt = 0;

  constructor(account: string, probe: Probe, options: ProberOptions, observer: AccountObserver) {
    this.account = account;
    this.#observer = observer;
    this.prober = new Prober(probe, options, {
      isRefused: () => this.#status.state === 'refused',
      conclude: ({ evidence, reason }) => {
        if (evidence === 'well') return this.recordResponse();
        this.#change(evidence, reason);
        if (this.#status.state === 'outage') this.#observer.probeIfStale();
      },
    });
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
    this.prober.start();
    const now = performance.now();
    if (now < this.#respondedAt + HALF_OPEN_INTERVAL_MS) return;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#nextHalfOpenAt = now + HALF_OPEN_INTERVAL_MS;
  }

  /** Records that a call or a probe got a documented response that does not blame us. This ends an outage and a pause. */
  recordResponse(): void {
    this.#pausedUntil = 0;
    this.#respondedAt = performance.now();
    if (this.#status.state !== 'well' || this.#status.pending) this.#change('well');
    this.prober.settle();
  }

  #change(evidence: Evidence, reason?: string): void {
    const before = this.#status;
    const after = statusAfter(before, evidence, reason);
    this.#status = after;
    if (after.state !== before.state) {
      if (isDown(before)) this.#downMs += performance.now() - this.#downSince;
      this.#downSince = performance.now();
    } else if (after.reason === before.reason) return;
    this.#observer.report(this, before);
  }
}

const isDown = ({ state }: HealthStatus) => state === 'outage' || state === 'refused';

const REASONS = {
  outage: 'the service is down, as probes have confirmed',
  pause: 'account is paused, because the service answered 429',
};
