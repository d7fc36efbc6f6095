import type { Logger } from 'pino';
import { DeviceTrustError } from '../errors.ts';
import type { HealthState, Metrics } from '../observability/metrics.ts';
import { type Probe, type ProbeOptions, type ProbeResult, sendProbe, unansweredAfterMs } from './probe.ts';

/** Two failed probes confirm an outage, if there is at least this time between them, in ms. */
const MIN_INTERVAL_MS = 300;
/** How often an account is probed during an outage, or while its probes are inconclusive, in ms. */
const USUAL_INTERVAL_MS = 1_000;
/** How often an account that is refused is probed, in ms. */
const REFUSED_INTERVAL_MS = 10_000;
const FAILURES_OF_AN_OUTAGE = 2;
/** So many further connections ask if a probe goes unanswered, until one of them is not disturbed by a lag of our own. */
const SECOND_CONNECTIONS = 3;
/** An outage ends after more than this many inconclusive probes in a row. */
const MAX_INCONCLUSIVE = 2;

/** What is known about an account at one moment. */
export interface HealthStatus {
  readonly state: HealthState;
  /** Has the account worked in this process? One that never did is wrongly configured, whatever its failures look like. */
  readonly hasWorked: boolean;
  /** Why it is refused or down, for the log. It is the code of the exception if the service refuses with one. */
  readonly reason: string;
}

/** The call was not sent, because the service is down. */
export class OutageError extends DeviceTrustError {
  constructor() {
    super('UPSTREAM_UNAVAILABLE', { internal: 'the service is down, as probes have confirmed' });
    this.name = 'OutageError';
  }
}

/** What the accounts of a service share. */
interface AccountOptions extends ProbeOptions {
  /** The name of the service, for the metrics and the log. */
  readonly service: string;
  readonly metrics: Metrics;
}

type OnChange = (health: AccountHealth, before: HealthStatus) => void;

/**
 * The health of one account. A call that fails says nothing certain about the service, because a bot chooses its content, its
 * moment and often our load. So it only has a probe of our own sent. One documented answer, of a probe or of any call, means
 * that the service is well. It is down once two probes in a row have failed with no such answer in between, or once two
 * connections have gone unanswered.
 */
export class AccountHealth {
  readonly account: string;
  readonly #options: AccountOptions;
  readonly #onChange: OnChange;
  #probe: Probe;
  #status: HealthStatus = { state: 'unknown', hasWorked: false, reason: '' };
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
  /** Ends the wait for the next probe. */
  #wake = () => {};
  /** Those that wait until probes have shown something. */
  readonly #waiting = new Set<(status: HealthStatus) => void>();

  constructor(account: string, probe: Probe, options: AccountOptions, onChange: OnChange) {
    this.account = account;
    this.#probe = probe;
    this.#options = options;
    this.#onChange = onChange;
  }

  /** The question, with the region and the address of the account. */
  get probe(): Probe {
    return this.#probe;
  }

  get status(): HealthStatus {
    return this.#status;
  }

  /** @throws OutageError while the service is down, so that nobody waits for it */
  throwIfDown(): void {
    if (this.#status.state === 'outage') throw new OutageError();
  }

  /** Records that a call got a documented answer that does not blame us. */
  recordAnswer(): void {
    this.#answers += 1;
    this.#failures = 0;
    if (this.#status.state !== 'well' || this.#waiting.size > 0) this.#change('well');
  }

  /** Has a probe sent, because a call has failed or is late; at most one for each 300 ms. */
  requestProbe(): void {
    if (this.#isClosed) return;
    if (!this.#isWatching) void this.#watch();
    else if (this.#status.state === 'refused') this.#wake();
  }

  /**
   * Waits until probes have shown whether the service is well. While it is down or the account is refused, nobody waits.
   *
   * @param timeoutMs how long to wait at most
   * @param signal ends the wait at once
   * @returns what is known then; `unknown` if the time was too short
   */
  async waitForProbes(timeoutMs: number, signal: AbortSignal): Promise<HealthStatus> {
    const { state } = this.#status;
    if (state === 'outage' || state === 'refused') return this.#status;
    const { promise, resolve } = Promise.withResolvers<HealthStatus>();
    const tooLate = () => resolve({ ...this.#status, state: 'unknown' });
    const timer = setTimeout(tooLate, timeoutMs);
    signal.addEventListener('abort', tooLate);
    this.#waiting.add(resolve);
    this.requestProbe();
    const status = await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', tooLate);
    this.#waiting.delete(resolve);
    return status;
  }

  /** Uses another question from now on, after a rotation, and asks it. */
  replaceProbe(probe: Probe): void {
    this.#probe = probe;
    this.#probing.abort();
    this.requestProbe();
    this.#wake();
  }

  /** Ends the probe under way, and sends no more. */
  close(): void {
    this.#isClosed = true;
    this.#probing.abort();
    this.#wake();
  }

  /** Probes until the account answers. */
  async #watch(): Promise<void> {
    const { service, metrics } = this.#options;
    this.#isWatching = true;
    for (;;) {
      // At least this time lies between two probes, however often a wait ends early.
      const earliest = this.#lastProbeAt + MIN_INTERVAL_MS;
      while (!this.#isClosed && performance.now() < earliest) await this.#sleep(earliest - performance.now());
      if (this.#isClosed) break;
      const probe = this.#probe;
      const answersBefore = this.#answers;
      const hasAnswered = () => this.#answers > answersBefore;
      this.#probing = new AbortController();
      const { signal } = this.#probing;
      const timeoutMs = this.#timeoutMs();
      const result = await sendProbe(probe, { ...this.#options, timeoutMs }, signal, () => {
        if (this.#status.state !== 'outage' && !hasAnswered())
          void this.#askAgain(probe, unansweredAfterMs(unansweredAfterMs(timeoutMs)), signal, hasAnswered);
      });
      this.#lastProbeAt = performance.now();
      // A rotation has replaced the credentials, or the process stops.
      if (signal.aborted) continue;
      metrics.recordProbe(service, probe.region, result.kind);
      this.#conclude(result, hasAnswered());
      if (this.#status.state === 'well' && (result.kind === 'well' || hasAnswered())) break;
      await this.#sleep(Math.max(this.#intervalMs(), result.retryAfterMs ?? 0));
    }
    this.#isWatching = false;
  }

  /** One connection may just be lost, so a second one has to go unanswered as well. */
  async #askAgain(probe: Probe, timeoutMs: number, signal: AbortSignal, hasAnswered: () => boolean): Promise<void> {
    for (let attempt = 0; attempt < SECOND_CONNECTIONS; attempt += 1) {
      const { kind, reason } = await sendProbe(probe, { ...this.#options, timeoutMs }, signal);
      if (signal.aborted || hasAnswered()) return;
      if (kind === 'well') return this.recordAnswer();
      if (kind !== 'inconclusive') return kind === 'failed' ? this.#change('outage', reason) : undefined;
    }
  }

  #conclude({ kind, reason }: ProbeResult, hasAnswered: boolean): void {
    const { state, hasWorked } = this.#status;
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
      this.#failures = hasAnswered ? 0 : this.#failures + 1;
      if (this.#failures >= FAILURES_OF_AN_OUTAGE) this.#change('outage', reason);
    }
  }

  #change(state: HealthState, reason = ''): void {
    const before = this.#status;
    this.#status = { state, hasWorked: before.hasWorked || state === 'well', reason };
    if (state !== 'outage') this.#failures = 0;
    if (state !== 'unknown') for (const resolve of this.#waiting) resolve(this.#status);
    if (state !== before.state || reason !== before.reason) this.#onChange(this, before);
  }

  /**
   * In an outage every second probe ends early, so that the end of an outage in which probes hang is found soon. The others
   * wait for the whole deadline, so that a service that answers late is not taken for one that is down.
   */
  #timeoutMs(): number {
    const { timeoutMs } = this.#options;
    const endsEarly = this.#status.state === 'outage' && this.#failures % 2 === 0;
    return endsEarly ? unansweredAfterMs(timeoutMs) : timeoutMs;
  }

  #intervalMs(): number {
    const { state } = this.#status;
    if (state === 'refused') return REFUSED_INTERVAL_MS;
    return state !== 'outage' && this.#failures > 0 ? MIN_INTERVAL_MS : USUAL_INTERVAL_MS;
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

/** Each account with the question that probes it. The first one is the default account. */
type Probes = readonly (readonly [account: string, probe: Probe])[];

/** What a service's health is established for, and where it is reported. */
export interface ServiceHealthOptions extends AccountOptions {
  readonly probes: Probes;
  /** Which accounts are checked at the start, and keep the process from becoming ready: the first one, all, or none. */
  readonly upstreamCheck: 'first' | 'all' | 'off';
  /** How long what could be an outage delays readiness, in ms. */
  readonly upstreamCheckGraceMs: number;
  /** The sandbox has accounts that are meant to be refused. */
  readonly upstreamMode: 'sandbox' | 'live';
  readonly log: Logger;
}

/** The health of the accounts of one upstream service, and whether they let this process become ready. */
export class ServiceHealth {
  readonly #options: ServiceHealthOptions;
  #accounts: ReadonlyMap<string, AccountHealth> = new Map();
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;
  #isGraceOver = false;
  #graceTimer: NodeJS.Timeout | undefined;
  /** Accounts about which the log has said that something is wrong. */
  readonly #complained = new WeakSet<AccountHealth>();

  constructor(options: ServiceHealthOptions) {
    this.#options = options;
    this.replace(options.probes);
  }

  /** Has this service let the process become ready? What happens later changes nothing, because it would end all replicas. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The health of an account; undefined if a rotation has removed it. */
  find(account: string): AccountHealth | undefined {
    return this.#accounts.get(account);
  }

  /** The health of every account. */
  all(): Iterable<AccountHealth> {
    return this.#accounts.values();
  }

  /**
   * Checks every account, unless the check is off. One that does not work is checked until it does.
   *
   * @returns resolves once `isReady` is true
   */
  start(): Promise<void> {
    const { upstreamCheck, upstreamCheckGraceMs } = this.#options;
    if (upstreamCheck === 'off') this.#becomeReady();
    else {
      this.#graceTimer = setTimeout(() => {
        this.#isGraceOver = true;
        this.#updateReadiness();
      }, upstreamCheckGraceMs);
      for (const health of this.all()) health.requestProbe();
      this.#updateReadiness();
    }
    return this.#ready.promise;
  }

  /** Replaces all accounts at once, and probes them. One that stays keeps what is known about it. */
  replace(probes: Probes): void {
    const before = this.#accounts;
    this.#accounts = new Map(
      probes.map(([account, probe]) => {
        const known = before.get(account);
        // At another address the account begins anew: what the old address has shown says nothing about the new one.
        if (known?.probe.origin === probe.origin) return [account, known];
        return [account, new AccountHealth(account, probe, this.#options, (...change) => this.#report(...change))];
      }),
    );
    for (const [account, health] of before) if (this.#accounts.get(account) !== health) health.close();
    if (before.size === 0) return;
    for (const [account, probe] of probes) this.#accounts.get(account)?.replaceProbe(probe);
    // What kept the process from becoming ready may have been an account that is gone.
    this.#updateReadiness();
  }

  /** Sends no more probes. */
  close(): void {
    clearTimeout(this.#graceTimer);
    for (const health of this.all()) health.close();
  }

  /** The accounts that have to work before the process becomes ready. */
  #required(): AccountHealth[] {
    const all = [...this.all()];
    return this.#options.upstreamCheck === 'all' ? all : all.slice(0, 1);
  }

  /**
   * An account that has worked is no obstacle any more. One that is refused always is, so that a rollout with a mistake
   * never replaces a good one. Anything else could be an outage, which is an obstacle for the time of grace only.
   */
  #updateReadiness(): void {
    const isObstacle = ({ status: { hasWorked, state } }: AccountHealth) =>
      !hasWorked && (state === 'refused' || !this.#isGraceOver);
    if (!this.#required().some(isObstacle)) this.#becomeReady();
  }

  #becomeReady(): void {
    clearTimeout(this.#graceTimer);
    this.#isReady = true;
    this.#ready.resolve();
  }

  /** Logs a change, in one line that says whose fault it is and what to do. */
  #report(health: AccountHealth, before: HealthStatus): void {
    this.#updateReadiness();
    const { service, log, metrics, upstreamMode } = this.#options;
    const { account, probe } = health;
    const { state, hasWorked, reason } = health.status;
    const ids = { service, region: probe.region, account, health: state };
    if (state === 'well') {
      const hadFailed = this.#complained.delete(health);
      if (hadFailed) log.info({ ...ids, before: before.state }, 'The account works again. Nothing has to be done.');
      else log.debug(ids, 'The account works.');
      return;
    }
    // The probes of one outage can fail in several ways, and a line for each would be a line a second.
    if (state === 'outage' && before.state === 'outage') return;
    this.#complained.add(health);
    if (state === 'refused') {
      const isObstacle = !this.#isReady && this.#required().includes(health);
      const level = upstreamMode === 'sandbox' ? 'debug' : 'error';
      log[level]({ ...ids, reason }, isObstacle ? `${REFUSED} ${NOT_READY}` : REFUSED);
    } else if (state === 'outage') {
      metrics.recordOutage(health);
      log.warn({ ...ids, reason }, hasWorked ? DOWN : NEVER_ANSWERED);
    } else log.warn({ ...ids, before: before.state, reason }, UNKNOWN);
  }
}

const REFUSED =
  'The service refuses this account, which is our mistake or a change at the service: the id, the secret, the region or the address is wrong, or the account is disabled there. Correct the configuration, or ask the operator of the service. It is checked again every 10 s.';
const DOWN =
  'The service is down for this account, as our own probes have confirmed. This is the fault of the service: call its operator. It is checked again every second.';
const NEVER_ANSWERED =
  'The service has never answered this process for this account: either its address in our configuration is wrong, or the service is down. Check the address first, and then call the operator of the service. It is checked again every second.';
const UNKNOWN =
  'Our probes cannot find out whether the service works for this account, because of a limit or of this machine. The reason says which. It is checked again every second.';
const NOT_READY = 'Until then this process does not become ready, and a rollout stops here.';
