import { Admission } from './admission.ts';
import { type Evidence, type HealthStatus, NEW_ACCOUNT, statusAfter } from './health-table.ts';
import type { Probe } from './probe.ts';
import { Prober, type ProberOptions } from './prober.ts';

/** What an account tells its service. */
export interface AccountObserver {
  /** Its status has changed. */
  report(health: AccountHealth, before: HealthStatus): void;
  /** It is down, so every other account has to be known as well. It says so about once a second. */
  probeIfStale(): void;
}

/**
 * The health of one account. A call that fails says nothing certain about the service, because a bot chooses its content, its
 * moment and often our load. So it only has probes of our own sent. The service is down once two of them in a row have failed, with
 * no documented response to a probe or a call since the first one started.
 */
export class AccountHealth {
  readonly account: string;
  readonly admission = new Admission(() => this.#status.state === 'outage');
  readonly #observer: AccountObserver;
  readonly prober: Prober;
  #status = NEW_ACCOUNT;
  /** When the outage began, on the clock of `performance.now()`. */
  #outageSince = 0;
  /** How long all outages that are over have lasted, in ms. */
  #outagesMs = 0;

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

  /** A clock that stands still in an outage, in ms. */
  get msWithoutOutages(): number {
    return (this.#status.state === 'outage' ? this.#outageSince : performance.now()) - this.#outagesMs;
  }

  /** Pauses the account for so long, in ms, after a 429, unless probes show that it responds. */
  pause(ms: number): void {
    this.prober.start();
    this.admission.pause(ms);
  }

  /** Records that a call or a probe got a documented response that does not blame us. This ends an outage and a pause. */
  recordResponse(): void {
    this.admission.settle();
    if (this.#status.state !== 'well' || this.#status.pending) this.#change('well');
    this.prober.settle();
  }

  #change(evidence: Evidence, reason?: string): void {
    const before = this.#status;
    const after = statusAfter(before, evidence, reason);
    const { state } = after;
    this.#status = after;
    if (before.state !== state) {
      if (state === 'outage') this.#outageSince = performance.now();
      if (before.state === 'outage') this.#outagesMs += performance.now() - this.#outageSince;
    }
    if (state !== before.state || after.reason !== before.reason) this.#observer.report(this, before);
  }
}
