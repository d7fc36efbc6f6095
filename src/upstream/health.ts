import type { Logger } from 'pino';
import { DeviceTrustError } from '../errors.ts';
import { type Evidence, type HealthStatus, NEW_ACCOUNT, statusAfter } from './health-table.ts';
import type { UpstreamMetrics } from './metrics.ts';
import { type Probe, type ProbeOptions, sendProbe } from './probe.ts';
import type { UpstreamSettings } from './settings.ts';

/** How often a half-open call is admitted in an outage and in a pause, in ms, as by a circuit breaker. */
const HALF_OPEN_INTERVAL_MS = 1_000;
/** The time between the first two probes, and the minimum between any two of an account, in ms. */
const MIN_INTERVAL_MS = 300;
/** The interval for an account that does not respond, or while another account of its service is down, in ms. */
const USUAL_INTERVAL_MS = 1_000;
/** The interval for an account that is refused, in ms. */
const REFUSED_INTERVAL_MS = 10_000;
/** How long a possible outage delays readiness, in ms: longer than most short failures, and short enough for a rollout in an outage. */
const GRACE_MS = 15_000;

export interface HealthOptions extends ProbeOptions, UpstreamSettings {
  readonly service: string;
  readonly graceMs?: number;
  readonly metrics: UpstreamMetrics;
  readonly log: Logger;
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
  const all = probes.map(watch);
  const accounts = new Map(all.map((account) => [account.id, account]));
  /** The accounts that have to work before the process becomes ready. With `off` none is probed at first. */
  const required = all.slice(0, { first: 1, all: all.length, off: 0 }[upstreamCheck]);

  /**
   * The health of one account, its probes, and the admission of its calls. Failed calls only start probes, because a bot can cause
   * them. The service is down once two probes in a row have failed, and nothing responded since the first one started.
   */
  function watch(probe: Probe) {
    const { id, region } = probe;
    let status = NEW_ACCOUNT;
    /* Times on the clock of `performance.now()`. */
    let pausedUntil = 0;
    let respondedAt = Number.NEGATIVE_INFINITY;
    let nextHalfOpenAt = 0;
    let lastProbeAt = Number.NEGATIVE_INFINITY;
    /** `msWithoutOutages` at the last change, and the total duration of past outages and refusals then, in ms. */
    let [stoppedAt, downMs] = [0, 0];
    /** Sends the next probe; undefined if none is needed. Does not keep the process alive. */
    let probeTimer: NodeJS.Timeout | undefined;

    function change(evidence: Evidence, reason?: string): void {
      const before = status;
      stoppedAt = account.msWithoutOutages;
      downMs = performance.now() - stoppedAt;
      status = statusAfter(before, evidence, reason);
      if (status.state === before.state && status.reason === before.reason) return;
      updateReadiness();
      logChange(before);
    }

    /** Sends a probe, and schedules the next one. Does not wait for the result of the last probe, so probes may overlap. */
    async function send(isFirst = false): Promise<void> {
      const intervalMs = status.state === 'refused' ? REFUSED_INTERVAL_MS : USUAL_INTERVAL_MS;
      probeTimer = setTimeout(send, isFirst ? MIN_INTERVAL_MS : intervalMs).unref();
      const sentAt = performance.now();
      lastProbeAt = sentAt;
      const { evidence, reason } = await sendProbe(probe, options, closing.signal);
      if (closing.signal.aborted) return;
      metrics.recordProbe(service, region, evidence);
      if (evidence === 'well') account.recordResponse();
      // A response since then, of a call or a probe, counts more.
      else if (respondedAt < sentAt) change(evidence, reason);
    }

    /** Logs a change in one line, with the side at fault and the action to take. */
    function logChange(before: HealthStatus): void {
      const { state, hasWorked, reason, isHostUnknown } = status;
      const ids = { service, region, account: id, health: state };
      if (state === 'well' && before.reason === '') log.debug(ids, 'The account works.');
      else if (state === 'well') log.info({ ...ids, before: before.state }, WORKS_AGAIN);
      else if (state === 'refused') {
        const isObstacle = !isReady && required.includes(account);
        // The sandbox has accounts that are meant to be refused.
        const level = upstreamMode === 'sandbox' ? 'debug' : 'error';
        log[level]({ ...ids, reason }, isObstacle ? `${REFUSED} ${NOT_READY}` : REFUSED);
      } else if (state === 'unknown') log.warn({ ...ids, before: before.state, reason }, UNKNOWN);
      // The probes of one outage can fail in several ways, and a line for each would be a line a second.
      else if (before.state !== 'outage')
        log.warn({ ...ids, reason }, isHostUnknown ? NO_NAME : hasWorked ? DOWN : NEVER_ANSWERED);
    }

    const account = {
      id,
      region,
      get status(): HealthStatus {
        return status;
      },
      /** A clock that stands still in an outage and while the account is refused, in ms. */
      get msWithoutOutages(): number {
        const isDown = status.state === 'outage' || status.state === 'refused';
        return isDown ? stoppedAt : performance.now() - downMs;
      },
      /**
       * Admits a call. In an outage or a pause one call a second goes through, because the service may reject only our probes.
       *
       * @param canBeSent is false if a limit of our own would stop the call anyway
       * @returns whether it is the half-open call of this second @throws UPSTREAM_UNAVAILABLE because of an `outage` or a `pause`
       */
      admit(canBeSent = true): boolean {
        const now = performance.now();
        const isDown = status.state === 'outage';
        if (!isDown && now >= pausedUntil) return false;
        if (!canBeSent || now < nextHalfOpenAt) {
          const why = isDown ? 'outage' : 'pause';
          throw new DeviceTrustError('UPSTREAM_UNAVAILABLE', { why, internal: NOT_SENT[why] });
        }
        nextHalfOpenAt = now + HALF_OPEN_INTERVAL_MS;
        return true;
      },
      /** Admits another half-open call at once, because the last one was inconclusive. */
      halfOpenAgain(): void {
        nextHalfOpenAt = 0;
      },
      /** Pauses the account after a 429, unless it responded within the last second: then the limit is about one caller. */
      pause(ms: number): void {
        account.startProbes();
        const now = performance.now();
        if (now < respondedAt + HALF_OPEN_INTERVAL_MS) return;
        pausedUntil = Math.max(pausedUntil, now + ms);
        nextHalfOpenAt = now + HALF_OPEN_INTERVAL_MS;
      },
      /** Records that a call or a probe got a documented response that does not blame us. This ends an outage and a pause. */
      recordResponse(): void {
        account.stopProbes();
        pausedUntil = 0;
        respondedAt = performance.now();
        if (status.state !== 'well' || status.pending) change('well');
      },
      /** Sends probes until the account responds. If it is refused, the next one is sent as soon as possible. */
      startProbes(): void {
        const isFirst = probeTimer === undefined;
        if (closing.signal.aborted || (!isFirst && status.state !== 'refused')) return;
        clearTimeout(probeTimer);
        const waitMs = lastProbeAt + MIN_INTERVAL_MS - performance.now();
        // Without a timer, so that many calls cannot postpone a probe that is due.
        if (waitMs <= 0) void send(isFirst);
        else probeTimer = setTimeout(send, waitMs, isFirst).unref();
      },
      /** Is no probe planned, and the last one old? */
      isStale: () => !probeTimer && performance.now() - lastProbeAt >= USUAL_INTERVAL_MS,
      stopProbes(): void {
        clearTimeout(probeTimer);
        probeTimer = undefined;
      },
    };
    return account;
  }

  /** A refused account stops a rollout until it works. Anything else could be an outage, which only delays the rollout. */
  function updateReadiness(): void {
    const isObstacle = ({ hasWorked, state }: HealthStatus) => !hasWorked && (state === 'refused' || !isGraceOver);
    if (required.some(({ status }) => isObstacle(status))) return;
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
    /**
     * Probes an account after a failed or late call, and every other account of the service without a recent probe, so that the
     * health of unused accounts is known when one in use is down.
     */
    requestProbe(id: string): void {
      for (const account of all) if (account.id === id || account.isStale()) account.startProbes();
    },
    /** Probes every account until it works, unless `upstreamCheck` is `off`. Resolves once `isReady` is true. */
    start(): Promise<void> {
      graceTimer = setTimeout(() => {
        isGraceOver = true;
        updateReadiness();
      }, graceMs);
      if (upstreamCheck !== 'off') for (const account of all) account.startProbes();
      updateReadiness();
      return ready.promise;
    },
    close(): void {
      closing.abort();
      clearTimeout(graceTimer);
      for (const account of all) account.stopProbes();
    },
  };
}

const NOT_SENT = {
  outage: 'the service is down, as probes have confirmed',
  pause: 'account is paused, because the service answered 429',
};
const WORKS_AGAIN = 'The account works again. Nothing has to be done.';
const REFUSED =
  'The service refuses this account, because of our configuration or a change at the service: the id, the secret, the region or the address is wrong, or the account is disabled there. Correct the configuration, or ask the operator of the service. It is checked again every 10 s.';
const DOWN =
  'The service is down for this account, as our own probes have confirmed. This is the fault of the service: call its operator. It is checked again every second.';
const NO_NAME =
  'The host name of the service no longer resolves. First check our resolver and the address in our configuration: the service is at fault only if other resolvers do not find the host either. It is checked again every second.';
const NEVER_ANSWERED =
  'The service has never answered this process for this account: either its address in our configuration is wrong, or a network policy keeps us from it, or the service is down. Check the first two, and then call the operator of the service. It is checked again every second.';
const UNKNOWN =
  'Our probes of the service are inconclusive for this account. The reason says why. It is checked again every second.';
const NOT_READY = 'Until then this process does not become ready, and a rollout stops here.';
