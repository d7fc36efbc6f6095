import type { Logger } from 'pino';
import { DeviceTrustError } from '../errors.ts';
import { type Evidence, type HealthState, type HealthStatus, NEW_ACCOUNT, statusAfter } from './health-table.ts';
import type { UpstreamMetrics } from './metrics.ts';
import { evidenceOfError, type Probe, type ProbeOptions, sendProbe } from './probe.ts';
import { ProbeSchedule } from './probe-schedule.ts';
import type { UpstreamSettings } from './settings.ts';

/** The interval between trials in an outage or a pause, in ms, as in a circuit breaker. */
const TRIAL_INTERVAL_MS = 1_000;
/** How long after a pass a limit does not pause the account, and a refusal takes no captcha id out of use, in ms. */
const PASSING_MS = 10_000;
/** How long a contradicted failure of a probe makes a new outage take one failure more, in ms, and how many of them count. */
const [DOUBT_MS, MAX_DOUBTS] = [60_000, 8];
/** The most further trials that immediately follow inconclusive ones. */
const MORE_TRIALS = 4;
/** How long a possible outage delays readiness, in ms: longer than most short failures, and short enough for a rollout in an outage. */
const GRACE_MS = 15_000;
/** This many refused calls in a row, over this many ms, show as a refusal of the account, even if probes are answered. */
const [MANY_REFUSALS, REFUSALS_MS] = [20, 60_000];

export interface HealthOptions extends ProbeOptions, UpstreamSettings {
  readonly service: string;
  readonly graceMs?: number;
  readonly metrics: UpstreamMetrics;
  readonly log: Logger;
}

/** The admission of one call. It is settled once: with the evidence of its response, or as failed. */
interface Permit {
  /** Is it the trial of this second in an outage or a pause? Other calls depend on a trial, so its client cannot cancel it. */
  readonly isTrial: boolean;
  /** Throws what `admit` throws if an outage or a pause has begun while the call waited. */
  confirm(): void;
  settle(evidence: Evidence): void;
  fail(error: unknown, wasSent: boolean): void;
}

/**
 * The health of one account. Only probes find fault with it, because a client can provoke failed calls; a response that needs our
 * credentials shows that it works. Times are on the clock of `performance.now()`.
 */
class AccountHealth {
  readonly id: string;
  readonly region: string | undefined;
  readonly #tell: (account: AccountHealth, before: HealthStatus) => void;
  #status = NEW_ACCOUNT;
  #pausedUntil = 0;
  #nextTrialAt = 0;
  #trialsLeft = MORE_TRIALS;
  #respondedAt = Number.NEGATIVE_INFINITY;
  /** When a response contradicted a failed probe. Else a client could start probes until two in a row meet one broken backend. */
  #contradictedAt: readonly number[] = [];
  /** The failures that the outage which may have begun still needs. */
  #doubts = 0;
  /** The calls in a row that were refused because of our credentials, and the time of the first one. */
  #refusals = { count: 0, since: 0, areMany: false };

  constructor({ id, region }: Probe, tell: (account: AccountHealth, before: HealthStatus) => void) {
    this.id = id;
    this.region = region;
    this.#tell = tell;
  }

  get status(): HealthStatus {
    return this.#status;
  }

  /** Has there been a pass or an answered probe within the last 10 s? */
  get isPassing(): boolean {
    return performance.now() - this.#respondedAt < PASSING_MS;
  }

  /** The state in metrics and the log. Calls alone can make it `refused`, because a service may check credentials last. */
  get shownState(): HealthState {
    return this.#refusals.areMany && this.#status.state !== 'outage' ? 'refused' : this.#status.state;
  }

  /**
   * Admits a call. In an outage or a pause one to five calls a second go through, because the service may reject only our probes.
   *
   * @param canBeSent is false if a limit of our own would stop the call anyway
   * @returns whether it is the trial of this second @throws UPSTREAM_UNAVAILABLE because of an `outage` or a `pause`
   */
  admit(canBeSent: boolean): boolean {
    const now = performance.now();
    const isDown = this.#status.state === 'outage';
    if (!isDown && now >= this.#pausedUntil) return false;
    if (!canBeSent || now < this.#nextTrialAt) {
      const why = isDown ? 'outage' : 'pause';
      throw new DeviceTrustError('UPSTREAM_UNAVAILABLE', { why, internal: NOT_SENT[why] });
    }
    if (this.#nextTrialAt > 0) this.#trialsLeft = MORE_TRIALS;
    this.#nextTrialAt = now + TRIAL_INTERVAL_MS;
    return true;
  }

  /**
   * Admits another trial at once after one that was inconclusive, or that a limit of our own stopped before it was sent. Otherwise a bot
   * could use up every trial, and so hide a recovery.
   */
  tryAgain(wasSent: boolean): void {
    if (wasSent && this.#trialsLeft <= 0) return;
    if (wasSent) this.#trialsLeft -= 1;
    this.#nextTrialAt = 0;
  }

  /** Records that a call or a probe got a documented response that does not blame us. This ends an outage and a pause. */
  recordResponse(): void {
    this.#pausedUntil = 0;
    this.#respondedAt = performance.now();
    if (this.#status.pending === 'failed' && this.#status.state !== 'outage')
      this.#contradictedAt = [...this.#contradictedAt, this.#respondedAt].slice(-MAX_DOUBTS);
    if (this.#status.state !== 'well' || this.#status.pending) this.#change('well');
  }

  /** Records another result of a probe, unless a response arrived after it was sent. A limit pauses the account for `retryAfterMs`. */
  recordProbe(evidence: Evidence, reason: string, sentAt: number, retryAfterMs = 0): void {
    if (this.#respondedAt >= sentAt) return;
    const now = performance.now();
    // If calls pass, the limit applies to something else, such as failures, of which each probe is one.
    if (retryAfterMs > 0 && !this.isPassing) {
      if (now >= this.#pausedUntil) this.#nextTrialAt = now + TRIAL_INTERVAL_MS;
      this.#pausedUntil = Math.max(this.#pausedUntil, now + retryAfterMs);
    }
    const isRepeated = this.#status.pending === 'failed' && this.#status.state !== 'outage';
    if (evidence === 'failed') {
      if (!isRepeated) this.#doubts = this.#contradictedAt.filter((at) => now - at < DOUBT_MS).length;
      else if (this.#doubts-- > 0) return;
    }
    this.#change(evidence, reason);
  }

  /** Counts a call, refused or not because of our credentials. Returns true once refusals have become many. */
  countRefusal(isRefused: boolean): boolean {
    const { count, since, areMany } = this.#refusals;
    const now = performance.now();
    if (!isRefused) this.#refusals = { count: 0, since: 0, areMany: false };
    else {
      const began = count === 0 ? now : since;
      const isMany = count + 1 >= MANY_REFUSALS && now - began >= REFUSALS_MS;
      this.#refusals = { count: count + 1, since: began, areMany: areMany || isMany };
    }
    return this.#refusals.areMany && !areMany;
  }

  #change(evidence: Evidence, reason?: string): void {
    const before = this.#status;
    this.#status = statusAfter(before, evidence, reason);
    if (this.#status.state !== before.state || this.#status.reason !== before.reason) this.#tell(this, before);
  }
}

export type ServiceHealth = ReturnType<typeof createServiceHealth>;

/** The health of a service's accounts, of which the first is the default, and whether they let this process become ready. */
export function createServiceHealth(probes: readonly Probe[], options: HealthOptions) {
  const { service, upstreamCheck, upstreamMode, graceMs = GRACE_MS, metrics, log } = options;
  const ready = Promise.withResolvers<void>();
  let isReady = false;
  let isGraceOver = false;
  let graceTimer: NodeJS.Timeout | undefined;
  const closing = new AbortController();
  const all = probes.map((probe) => new AccountHealth(probe, tell));
  const accounts: ReadonlyMap<string, AccountHealth> = new Map(all.map((account) => [account.id, account]));
  const probeOf = new Map(probes.map((probe) => [probe.id, probe]));
  const isRefused = (id: string) => accounts.get(id)?.status.state === 'refused';
  const schedule = new ProbeSchedule([...accounts.keys()], isRefused, (id) => void send(id));
  /** The accounts that have to work before the process becomes ready. With `off` none is probed at first. */
  const required = all.slice(0, { first: 1, all: all.length, off: 0 }[upstreamCheck]);

  async function send(id: string): Promise<void> {
    const [probe, account] = [probeOf.get(id), accounts.get(id)];
    if (!probe || !account) return;
    const sentAt = performance.now();
    const { evidence, reason, retryAfterMs } = await sendProbe(probe, options, closing.signal);
    if (closing.signal.aborted) return;
    metrics.recordProbe(service, probe.region, evidence);
    if (evidence === 'well') return recordResponse(account);
    account.recordProbe(evidence, reason, sentAt, retryAfterMs);
    if (MAY_CONCERN_ALL.has(evidence)) schedule.startOthers();
  }

  function recordResponse(account: AccountHealth): void {
    schedule.stop(account.id);
    account.recordResponse();
  }

  /** Tells a change in one log line, with the side at fault and the action to take. */
  function tell(account: AccountHealth, before: HealthStatus): void {
    updateReadiness();
    const { state, hasWorked, reason, isHostUnknown } = account.status;
    const ids = { service, region: account.region, account: account.id, health: state };
    if (state === 'well' && before.reason === '') log.debug(ids, 'The account works.');
    else if (state === 'well') log.info({ ...ids, before: before.state }, WORKS_AGAIN);
    else if (state === 'refused') {
      const isObstacle = !isReady && required.includes(account) && stopsRollout(account.status);
      // The sandbox has accounts that are meant to be refused.
      const level = upstreamMode === 'sandbox' ? 'debug' : 'error';
      log[level]({ ...ids, reason }, isObstacle ? `${REFUSED} ${NOT_READY}` : REFUSED);
    } else if (state === 'unknown') log.warn({ ...ids, before: before.state, reason }, UNKNOWN);
    // The probes of one outage can fail in several ways, and a line for each would be a line a second.
    else if (before.state !== 'outage')
      log.warn({ ...ids, reason }, isHostUnknown ? NO_NAME : hasWorked ? DOWN : NEVER_ANSWERED);
  }

  /** A refused account stops a rollout until it works. Anything else could be an outage, which only delays the rollout. */
  function updateReadiness(): void {
    if (required.some(({ status }) => stopsRollout(status) || (!status.hasWorked && !isGraceOver))) return;
    clearTimeout(graceTimer);
    isReady = true;
    ready.resolve();
  }

  return {
    accounts,
    /** Does this service let the process become ready? Stays true: an outage must not take all replicas out of service. */
    get isReady(): boolean {
      return isReady;
    },
    /** Admits a call of an account; see `AccountHealth.admit`. */
    admit(id: string, canBeSent = true): Permit {
      const account = accounts.get(id);
      const isTrial = account?.admit(canBeSent) ?? false;
      const settle = (evidence: Evidence, wasSent = true) => {
        if (!account) return;
        if (evidence === 'well') recordResponse(account);
        else if (evidence !== 'answered' && evidence !== 'local_failure') schedule.start(id);
        if (isTrial && !CONFIRMS.has(evidence)) account.tryAgain(wasSent);
        if (evidence !== 'well' && !BLAMES_CREDENTIALS.has(evidence)) return;
        if (!account.countRefusal(evidence !== 'well')) return;
        log.error({ service, region: account.region, account: id, health: account.shownState }, CALLS_REFUSED);
      };
      const confirm = () => void (isTrial || account?.admit(false));
      return { isTrial, confirm, settle, fail: (error, wasSent) => settle(evidenceOfError(error), wasSent) };
    },
    /** Probes an account, such as one whose call is late, until it responds. */
    requestProbe: (id: string): void => schedule.start(id),
    /** Probes every account until it works, unless `upstreamCheck` is `off`. Resolves once `isReady` is true. */
    start(): Promise<void> {
      graceTimer = setTimeout(() => {
        isGraceOver = true;
        updateReadiness();
      }, graceMs);
      if (upstreamCheck !== 'off') for (const { id } of all) schedule.start(id);
      updateReadiness();
      return ready.promise;
    },
    close(): void {
      closing.abort();
      clearTimeout(graceTimer);
      schedule.close();
    },
  };
}

/** An account that the service has deleted or paused is no mistake of this rollout. */
const stopsRollout = ({ hasWorked, refusal }: HealthStatus) => !hasWorked && !!refusal && refusal !== 'withdrawn';

/** The evidence after which other accounts are probed: whether a captcha may proceed depends on all captcha ids. */
const MAY_CONCERN_ALL: ReadonlySet<Evidence> = new Set(['failed', 'no_such_host', 'unknown_account', 'withdrawn']);
/** The evidence of a trial that confirms the outage or the pause. */
const CONFIRMS: ReadonlySet<Evidence> = new Set(['failed', 'no_such_host', 'limited']);
const BLAMES_CREDENTIALS: ReadonlySet<Evidence> = new Set(['refused', 'unknown_account', 'withdrawn']);

const NOT_SENT = {
  outage: 'the service is down, as probes have confirmed',
  pause: 'account is paused, because the service answered 429 to a probe',
};
const WORKS_AGAIN = 'The account works again. Nothing has to be done.';
const REFUSED =
  'The service refuses this account, because of our configuration or a change at the service: the id, the secret, the region or the address is wrong, or the account is disabled there. Correct the configuration, or ask the operator of the service. It is checked again every 10 s.';
const CALLS_REFUSED =
  'The service has refused every call of this account for a minute, although it answers our probes: it may check the credentials last. Correct the secret in the configuration, or ask the operator of the service.';
const DOWN =
  'The service is down for this account, as our own probes have confirmed. This is the fault of the service: call its operator. It is checked again every second.';
const NO_NAME =
  'The host name of the service no longer resolves. First check our resolver and the address in our configuration: the service is at fault only if other resolvers do not find the host either. It is checked again every second.';
const NEVER_ANSWERED =
  'The service has never answered this process for this account: either its address in our configuration is wrong, or a network policy keeps us from it, or the service is down. Check the first two, and then call the operator of the service. It is checked again every second.';
const UNKNOWN =
  'Our probes of the service are inconclusive for this account. The reason says why. It is checked again every second.';
const NOT_READY = 'Until then this process does not become ready, and a rollout stops here.';
