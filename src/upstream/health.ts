import type { HealthState } from '../observability/metrics.ts';
import { Sleep } from '../runtime/sleep.ts';
import { Waiters } from '../runtime/waiters.ts';
import type { Finding } from './finding.ts';
import { OutageError } from './outage-error.ts';
import { type Probe, type ProbeResult, type ProbeTools, sendProbe, silenceMs } from './probe.ts';

/** Two failed probes confirm an outage, if there is at least this time between them, in ms. */
const DOUBT_INTERVAL_MS = 300;
/** How often an account is probed during an outage, or while its probes are inconclusive, in ms. */
const USUAL_INTERVAL_MS = 1_000;
/** How often an account that is refused is probed, in ms. */
const REFUSED_INTERVAL_MS = 10_000;
const FAILURES_OF_AN_OUTAGE = 2;
/** So many connections ask after silence, until one of them is not disturbed by a lag of our own. */
const SECOND_CONNECTIONS = 3;
/** An outage ends after more than this many inconclusive probes in a row. */
const MAX_INCONCLUSIVE = 2;

type OnChange = (health: AccountHealth, before: HealthState) => void;

/**
 * The health of one account. A call that fails proves nothing about the service, because a bot chooses its content, its
 * moment and often our load. So it only raises a doubt, and probes of our own settle it: one documented answer, of a probe or
 * of any call, means that the service is well. It is down once two probes in a row have failed with no such answer
 * in between, or once two connections have met silence.
 */
export class AccountHealth {
  readonly account: string;
  readonly #tools: ProbeTools;
  readonly #onChange: OnChange;
  #probe: Probe;
  #finding: Finding = { state: 'unknown', hasWorked: false, reason: '' };
  /** Documented answers so far, of calls and of probes. */
  #answers = 0;
  #failures = 0;
  /** Inconclusive probes in a row. */
  #inconclusive = 0;
  #lastProbeAt = Number.NEGATIVE_INFINITY;
  #isWatching = false;
  #isClosed = false;
  /** Aborts the probe under way. */
  #probing = new AbortController();
  /** The wait for the next probe. */
  readonly #sleep = new Sleep();
  /** Those that wait until the doubt is settled. */
  readonly #waiting = new Waiters<Finding>();

  constructor(account: string, probe: Probe, tools: ProbeTools, onChange: OnChange) {
    this.account = account;
    this.#probe = probe;
    this.#tools = tools;
    this.#onChange = onChange;
  }

  /** The question, with the region and the address of the account. */
  get probe(): Probe {
    return this.#probe;
  }

  get finding(): Finding {
    return this.#finding;
  }

  /** @throws OutageError while the service is down, so that nobody waits for it */
  check(): void {
    if (this.#finding.state === 'outage') throw new OutageError();
  }

  /** Records that a call got a documented answer that does not blame us. */
  recordAnswer(): void {
    this.#answers += 1;
    this.#failures = 0;
    if (this.#finding.state !== 'well' || !this.#waiting.isEmpty) this.#change('well');
  }

  /** Raises a doubt: a probe follows, at most one for each 300 ms. */
  doubt(): void {
    if (this.#isClosed) return;
    if (!this.#isWatching) void this.#watch();
    else if (this.#finding.state === 'refused') this.#sleep.end();
  }

  /**
   * Waits until probes have settled a doubt. While an outage is confirmed, or the account is refused, nobody waits.
   *
   * @param timeoutMs how long to wait at most
   * @param onWait receives the function that ends the wait at once
   * @returns what is known then; `unknown` if the time was too short
   */
  settle(timeoutMs: number, onWait: (end: () => void) => void): Promise<Finding> {
    const { state } = this.#finding;
    if (state === 'outage' || state === 'refused') return Promise.resolve(this.#finding);
    const tooLate = (): Finding => ({ ...this.#finding, state: 'unknown' });
    const finding = this.#waiting.wait(timeoutMs, tooLate, onWait);
    this.doubt();
    return finding;
  }

  /** Uses another question from now on, after a rotation, and asks it. */
  replaceProbe(probe: Probe): void {
    this.#probe = probe;
    this.#probing.abort();
    this.doubt();
    this.#sleep.end();
  }

  /** Ends the probe under way, and sends no more. */
  close(): void {
    this.#isClosed = true;
    this.#probing.abort();
    this.#sleep.end();
  }

  /** Probes until the account answers. */
  async #watch(): Promise<void> {
    this.#isWatching = true;
    for (;;) {
      // At least this time lies between two probes, however often a doubt ends the sleep.
      const earliest = this.#lastProbeAt + DOUBT_INTERVAL_MS;
      while (!this.#isClosed && performance.now() < earliest) await this.#sleep.for(earliest - performance.now());
      if (this.#isClosed) break;
      const probe = this.#probe;
      const answersBefore = this.#answers;
      const isContradicted = () => this.#answers > answersBefore;
      this.#probing = new AbortController();
      const tools = { ...this.#tools, timeoutMs: this.#timeoutMs(), signal: this.#probing.signal };
      const result = await sendProbe(probe, tools, (ms) => {
        if (this.#finding.state === 'outage' || isContradicted()) return;
        void this.#confirmSilence(probe, { ...tools, timeoutMs: silenceMs(ms) }, isContradicted);
      });
      this.#lastProbeAt = performance.now();
      // A rotation has replaced the credentials, or the process stops.
      if (tools.signal.aborted) continue;
      this.#tools.onProbe?.(probe.region, result.kind);
      this.#conclude(result, isContradicted());
      if (this.#finding.state === 'well' && (result.kind === 'well' || isContradicted())) break;
      await this.#sleep.for(Math.max(this.#intervalMs(), result.waitMs ?? 0));
    }
    this.#isWatching = false;
  }

  /** One connection may just be lost, so a second one has to meet silence as well. */
  async #confirmSilence(
    probe: Probe,
    tools: ProbeTools & { readonly signal: AbortSignal },
    isContradicted: () => boolean,
  ): Promise<void> {
    for (let attempt = 0; attempt < SECOND_CONNECTIONS; attempt += 1) {
      const { kind, reason } = await sendProbe(probe, tools, () => {});
      if (tools.signal.aborted || isContradicted()) return;
      if (kind === 'well') return this.recordAnswer();
      if (kind !== 'inconclusive') return kind === 'failed' ? this.#change('outage', reason) : undefined;
    }
  }

  #conclude({ kind, reason }: ProbeResult, isContradicted: boolean): void {
    const { state, hasWorked } = this.#finding;
    if (kind !== 'inconclusive') this.#inconclusive = 0;
    if (kind === 'well') this.recordAnswer();
    // An account that has worked had a host, so a host that is gone is an outage.
    else if (kind === 'refused' || (kind === 'no_such_host' && !hasWorked)) this.#change('refused', reason);
    else if (kind === 'inconclusive') {
      this.#failures = 0;
      // An outage that we cannot confirm any more is not confirmed. One late turn of our own is no reason to end it.
      this.#inconclusive += 1;
      if (state === 'unknown' || (state === 'outage' && this.#inconclusive > MAX_INCONCLUSIVE))
        this.#change('unknown', reason);
    } else {
      this.#failures = isContradicted ? 0 : this.#failures + 1;
      if (this.#failures >= FAILURES_OF_AN_OUTAGE) this.#change('outage', reason);
    }
  }

  #change(state: HealthState, reason = ''): void {
    const before = this.#finding;
    this.#finding = { state, hasWorked: before.hasWorked || state === 'well', reason };
    if (state !== 'outage') this.#failures = 0;
    if (state !== 'unknown') this.#waiting.settle(this.#finding);
    if (state !== before.state || reason !== before.reason) this.#onChange(this, before.state);
  }

  /**
   * In an outage every second probe ends early, so that the end of an outage in which probes hang is found soon. The others
   * wait for the whole deadline, so that a service that answers late is not taken for one that is down.
   */
  #timeoutMs(): number {
    const { timeoutMs } = this.#tools;
    const endsEarly = this.#finding.state === 'outage' && this.#failures % 2 === 0;
    return endsEarly ? silenceMs(timeoutMs) : timeoutMs;
  }

  #intervalMs(): number {
    const { state } = this.#finding;
    if (state === 'refused') return REFUSED_INTERVAL_MS;
    return state !== 'outage' && this.#failures > 0 ? DOUBT_INTERVAL_MS : USUAL_INTERVAL_MS;
  }
}
