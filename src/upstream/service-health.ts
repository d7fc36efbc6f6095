import type { Logger } from 'pino';
import { AccountHealth, type AccountOptions } from './account-health.ts';
import type { HealthStatus } from './health-table.ts';
import type { Probe } from './probe.ts';

/** Each account with its probe. The first one is the default account. */
type Probes = readonly (readonly [account: string, probe: Probe])[];

/** How long a possible outage delays readiness, in ms: longer than most short failures, and short enough for a rollout in an outage. */
const GRACE_MS = 15_000;

export interface ServiceHealthOptions extends AccountOptions {
  readonly probes: Probes;
  /** Which accounts must work before the process becomes ready: the first, all, or none. With `off` none is probed at first. */
  readonly upstreamCheck: 'first' | 'all' | 'off';
  /** Replaces `GRACE_MS`. */
  readonly graceMs?: number;
  /** The sandbox has accounts that are meant to be refused. */
  readonly upstreamMode: 'sandbox' | 'live';
  readonly log: Logger;
}

/** The health of the accounts of one upstream service, and whether they let this process become ready. */
export class ServiceHealth {
  readonly #options: ServiceHealthOptions;
  readonly accounts: ReadonlyMap<string, AccountHealth>;
  /** The accounts that have to work before the process becomes ready. */
  readonly #required: readonly AccountHealth[];
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;
  #isGraceOver = false;
  #graceTimer: NodeJS.Timeout | undefined;

  constructor(options: ServiceHealthOptions) {
    this.#options = options;
    const report = (health: AccountHealth, before: HealthStatus) => this.#report(health, before);
    this.accounts = new Map(
      options.probes.map(([account, probe]) => [account, new AccountHealth(account, probe, options, report)]),
    );
    const all = [...this.accounts.values()];
    this.#required = { first: all.slice(0, 1), all, off: [] }[options.upstreamCheck];
  }

  /** Does this service let the process become ready? Stays true: an outage must not take all replicas out of service. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Probes an account after a failed or late call, and every other account of the service without a recent probe, so that the
   * health of unused accounts is known when one in use is down.
   */
  requestProbe(account: string): void {
    this.accounts.get(account)?.startProbes();
    for (const health of this.accounts.values()) health.startProbesIfStale();
  }

  /** Probes every account until it works, unless `upstreamCheck` is `off`. Resolves once `isReady` is true. */
  start(): Promise<void> {
    const { upstreamCheck, graceMs = GRACE_MS } = this.#options;
    this.#graceTimer = setTimeout(() => {
      this.#isGraceOver = true;
      this.#updateReadiness();
    }, graceMs);
    if (upstreamCheck !== 'off') for (const health of this.accounts.values()) health.startProbes();
    this.#updateReadiness();
    return this.#ready.promise;
  }

  close(): void {
    clearTimeout(this.#graceTimer);
    for (const health of this.accounts.values()) health.close();
  }

  /** A refused account stops a rollout until it works. Anything else could be an outage, which only delays the rollout. */
  #updateReadiness(): void {
    const isObstacle = ({ status: { hasWorked, state } }: AccountHealth) =>
      !hasWorked && (state === 'refused' || !this.#isGraceOver);
    if (this.#required.some(isObstacle)) return;
    clearTimeout(this.#graceTimer);
    this.#isReady = true;
    this.#ready.resolve();
  }

  /** Logs a change in one line, with the side at fault and the action to take. */
  #report(health: AccountHealth, before: HealthStatus): void {
    this.#updateReadiness();
    const { service, log, upstreamMode } = this.#options;
    const { account, probe } = health;
    const { state, hasWorked, reason, isHostUnknown } = health.status;
    const ids = { service, region: probe.region, account, health: state };
    if (state === 'well') {
      if (before.reason !== '')
        log.info({ ...ids, before: before.state }, 'The account works again. Nothing has to be done.');
      else log.debug(ids, 'The account works.');
      return;
    }
    // The probes of one outage can fail in several ways, and a line for each would be a line a second.
    if (state === 'outage' && before.state === 'outage') return;
    if (state === 'refused') {
      const isObstacle = !this.#isReady && this.#required.includes(health);
      const level = upstreamMode === 'sandbox' ? 'debug' : 'error';
      log[level]({ ...ids, reason }, isObstacle ? `${REFUSED} ${NOT_READY}` : REFUSED);
    } else if (state === 'outage') {
      log.warn({ ...ids, reason }, isHostUnknown ? NO_NAME : hasWorked ? DOWN : NEVER_ANSWERED);
    } else log.warn({ ...ids, before: before.state, reason }, UNKNOWN);
  }
}

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
