import { DeviceTrustError } from '../errors.ts';
import type { HealthState, Metrics } from '../observability/metrics.ts';
import { type Probe, type ProbeOptions, type ProbeResult, sendProbe } from './probe.ts';

/** The second probe starts so long after the first one, in ms, and no two probes of an account start closer together. */
const MIN_INTERVAL_MS = 300;
/** How often an account is probed that does not answer, or while another account of its service is down, in ms. */
const USUAL_INTERVAL_MS = 1_000;
/** How often an account that is refused is probed, in ms. */
const REFUSED_INTERVAL_MS = 10_000;
/** So many failed probes in a row confirm an outage, and so many inconclusive ones end it. */
const CONFIRMED_BY = 2;
/** How often a trial call is sent in an outage and in a pause, in ms: a real one, as a half-open circuit breaker lets through. */
const TRIAL_INTERVAL_MS = 1_000;

/** What is known about an account at one moment. */
export interface HealthStatus {
  readonly state: HealthState;
  /** Has the account worked in this process? One that never did is wrongly configured, whatever its failures look like. */
  readonly hasWorked: boolean;
  /** Have neither probes nor calls shown anything yet? */
  readonly isNew: boolean;
  /** What is wrong, for the log; empty if nothing is. It is the code of the exception if the service refuses with one. */
  readonly reason: string;
  /** How many outages were confirmed so far. */
  readonly outages: number;
}

/** The call was not sent, because the service is down. */
export class OutageError extends DeviceTrustError {
  constructor() {
    super('UPSTREAM_UNAVAILABLE', { internal: 'the service is down, as probes have confirmed' });
    this.name = 'OutageError';
  }
}

/** The call was not sent, because its account is paused. This is no fault of the service, so no probe follows. */
export class AccountPausedError extends DeviceTrustError {
  constructor() {
    super('UPSTREAM_UNAVAILABLE', { internal: 'account is paused, because the service answered 429' });
    this.name = 'AccountPausedError';
  }
}

/** What the accounts of a service have in common. */
export interface AccountOptions extends ProbeOptions {
  /** The name of the service, for the metrics and the log. */
  readonly service: string;
  readonly metrics: Pick<Metrics, 'recordProbe'>;
}

/** What an account tells its service. */
export interface AccountObserver {
  /** Its status has changed. */
  report(health: AccountHealth, before: HealthStatus): void;
  /** It is down, so every other account has to be known as well. It says so about once a second. */
  probeIfStale(): void;
}

/**
 * The health of one account. A call that fails says nothing certain about the service, because a bot chooses its content, its
 * moment and often our load. So it only has probes of our own sent, which wait for nothing and for which nobody waits. The
 * service is down once two of them in a row have failed, with no documented answer of a probe or a call since the first one
 * started. In an outage real calls go on, one a second, because a service may refuse nothing but our probes.
 */
export class AccountHealth {
  readonly account: string;
  readonly #options: AccountOptions;
  readonly #observer: AccountObserver;
  #probe: Probe;
  #status: HealthStatus = { state: 'unknown', hasWorked: false, isNew: true, reason: '', outages: 0 };
  /** Documented answers so far, of calls and of probes. */
  #answers = 0;
  /** Failed probes, or inconclusive ones, in a row. */
  #inARow = { isFailure: false, count: 0 };
  /* Moments on the clock of `performance.now()`. */
  #lastProbeAt = Number.NEGATIVE_INFINITY;
  #outageSince = 0;
  #pausedUntil = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #nextTrialAt = 0;
  /** How long all outages that are over have lasted, in ms. */
  #outagesMs = 0;
  #isWatched = false;
  #isClosed = false;
  /** Aborts the probes under way. */
  #probing = new AbortController();
  /** Ends the wait for the next probe. */
  #wake = () => {};

  constructor(account: string, probe: Probe, options: AccountOptions, observer: AccountObserver) {
    this.account = account;
    this.#probe = probe;
    this.#options = options;
    this.#observer = observer;
  }

  /** The question, with the region and the address of the account. */
  get probe(): Probe {
    return this.#probe;
  }

  get status(): HealthStatus {
    return this.#status;
  }

  /** A clock that stands still in an outage, in ms. */
  get msWithoutOutages(): number {
    return (this.#status.state === 'outage' ? this.#outageSince : performance.now()) - this.#outagesMs;
  }

  /**
   * Admits a call, or refuses it so that nobody waits: in an outage and in a pause one call a second is admitted.
   *
   * @param canBeSent does no limit of our own keep this call from the service? Otherwise it would show nothing.
   * @returns is it the trial call of this second?
   * @throws OutageError or AccountPausedError
   */
  admit(canBeSent = true): boolean {
    const now = performance.now();
    const isDown = this.#status.state === 'outage';
    if (!isDown && now >= this.#pausedUntil) return false;
    if (!canBeSent || now < this.#nextTrialAt) throw isDown ? new OutageError() : new AccountPausedError();
    this.#nextTrialAt = now + TRIAL_INTERVAL_MS;
    return true;
  }

  /** Admits another trial call at once, because the last one had no chance of showing that the service is well. */
  admitAnother(): void {
    this.#nextTrialAt = 0;
  }

  /**
   * After a 429 only one call a second is admitted for so long, in ms, and probes are sent: any answer ends the pause. There is none if
   * there was an answer within the last second, because then the service does not limit the account, but what one caller sends.
   */
  pause(ms: number): void {
    this.requestProbe();
    const now = performance.now();
    if (now < this.#answeredAt + TRIAL_INTERVAL_MS) return;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#nextTrialAt = now + TRIAL_INTERVAL_MS;
  }

  /** Records that a call or a probe got a documented answer that does not blame us. This ends an outage and a pause. */
  recordAnswer(): void {
    this.#pausedUntil = 0;
    this.#answeredAt = performance.now();
    this.#answers += 1;
    this.#inARow.count = 0;
    if (this.#status.state !== 'well') this.#change('well');
    this.#wake();
  }

  /** Has probes sent until one is answered, because a call has failed or is late. */
  requestProbe(): void {
    if (this.#isClosed) return;
    if (!this.#isWatched) void this.#watch();
    else if (this.#status.state === 'refused') this.#wake();
  }

  /** Finds out whether this account works, although no call has failed, unless that was found out within the last second. */
  probeIfStale(): void {
    if (!this.#isWatched && performance.now() - this.#lastProbeAt >= USUAL_INTERVAL_MS) this.requestProbe();
  }

  /** Uses another question from now on, after a rotation, and asks it. */
  replaceProbe(probe: Probe): void {
    this.#probe = probe;
    this.#probing.abort();
    this.#probing = new AbortController();
    this.requestProbe();
    this.#wake();
  }

  /** Ends the probes under way, and sends no more. */
  close(): void {
    this.#isClosed = true;
    this.#probing.abort();
    this.#wake();
  }

  /** Probes until the account answers. No probe waits for the one before. */
  async #watch(): Promise<void> {
    this.#isWatched = true;
    const answersBefore = this.#answers;
    const isOver = () => this.#isClosed || this.#answers !== answersBefore;
    for (let isFirst = true; ; isFirst = false) {
      const earliest = this.#lastProbeAt + MIN_INTERVAL_MS;
      while (!isOver() && performance.now() < earliest) await this.#sleep(earliest - performance.now());
      if (isOver()) break;
      this.#lastProbeAt = performance.now();
      void this.#ask();
      if (this.#status.state === 'outage') this.#observer.probeIfStale();
      const usualMs = this.#status.state === 'refused' ? REFUSED_INTERVAL_MS : USUAL_INTERVAL_MS;
      await this.#sleep(isFirst ? MIN_INTERVAL_MS : usualMs);
    }
    this.#isWatched = false;
  }

  async #ask(): Promise<void> {
    const { service, metrics } = this.#options;
    const { signal } = this.#probing;
    const answersBefore = this.#answers;
    const { region } = this.#probe;
    const result = await sendProbe(this.#probe, this.#options, signal);
    // A rotation has replaced the credentials, or the process stops.
    if (signal.aborted) return;
    metrics.recordProbe(service, region, result.kind);
    if (result.kind === 'well') this.recordAnswer();
    else if (this.#answers === answersBefore) this.#conclude(result);
  }

  #conclude({ kind, reason }: ProbeResult): void {
    const { state, hasWorked, isNew } = this.#status;
    // A failure of our own neither confirms an outage nor ends one.
    if (kind === 'own_failure' && state !== 'unknown') return;
    // An account that has worked had a host, so a host that is gone is an outage.
    const isRefusal = kind === 'refused' || (kind === 'no_such_host' && !hasWorked);
    const isFailure = kind === 'failed' || (kind === 'no_such_host' && hasWorked);
    this.#inARow = { isFailure, count: isFailure === this.#inARow.isFailure ? this.#inARow.count + 1 : 1 };
    const isConfirmed = this.#inARow.count >= CONFIRMED_BY;
    if (isRefusal) this.#change('refused', reason);
    else if (isFailure && isConfirmed) this.#change('outage', reason);
    // What we cannot confirm any more is not confirmed.
    else if (!isFailure && (state === 'unknown' || (state === 'outage' && isConfirmed)))
      this.#change('unknown', reason, isNew && kind === 'own_failure');
  }

  #change(state: HealthState, reason = '', isNew = false): void {
    const before = this.#status;
    const outages = before.outages + Number(state === 'outage' && before.state !== 'outage');
    this.#status = { state, hasWorked: before.hasWorked || state === 'well', isNew, reason, outages };
    if (before.state !== state) {
      if (state === 'outage') this.#outageSince = performance.now();
      if (before.state === 'outage') this.#outagesMs += performance.now() - this.#outageSince;
    }
    if (state !== before.state || reason !== before.reason) this.#observer.report(this, before);
  }

  /** Waits until somebody calls `#wake`, and at most so long. It does not keep the process alive. */
  async #sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms).unref();
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }
}
