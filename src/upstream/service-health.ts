import type { HealthState } from '../observability/metrics.ts';
import { AccountHealth } from './health.ts';
import type { Probe, ProbeTools } from './probe.ts';

/** Which accounts are checked at the start, and decide whether the process becomes ready: the first one, all, or none. */
export type UpstreamCheck = 'first' | 'all' | 'off';

/** Each account with the question that probes it. The first one is the default account. */
export type Probes = readonly (readonly [account: string, probe: Probe])[];

/** What a service's health is established for, and whom it reports to. */
export interface ServiceHealthOptions {
  readonly probes: Probes;
  readonly check: UpstreamCheck;
  /** How long what could be an outage delays readiness, in ms. */
  readonly graceMs: number;
  readonly tools: ProbeTools;
  /** Called for each change; `isObstacle` says whether the account keeps the process from becoming ready. */
  readonly onChange: (health: AccountHealth, before: HealthState, isObstacle: boolean) => void;
}

/** The health of the accounts of one upstream service, and whether they let this process become ready. */
export class ServiceHealth {
  readonly #options: ServiceHealthOptions;
  #accounts: ReadonlyMap<string, AccountHealth> = new Map();
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;
  #isGraceOver = false;
  #graceTimer: NodeJS.Timeout | undefined;

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
    const { check, graceMs } = this.#options;
    if (check === 'off') this.#becomeReady();
    else {
      this.#graceTimer = setTimeout(() => {
        this.#isGraceOver = true;
        this.#decide();
      }, graceMs);
      for (const health of this.all()) health.doubt();
      this.#decide();
    }
    return this.#ready.promise;
  }

  /** Replaces all accounts at once, and probes them. One that stays keeps what is known about it. */
  replace(probes: Probes): void {
    const before = this.#accounts;
    const { tools, onChange } = this.#options;
    const changed = (health: AccountHealth, from: HealthState) => {
      this.#decide();
      onChange(health, from, !this.#isReady && this.#deciding().includes(health));
    };
    this.#accounts = new Map(
      probes.map(([account, probe]) => [
        account,
        keptOf(before, account, probe) ?? new AccountHealth(account, probe, tools, changed),
      ]),
    );
    for (const [account, health] of before) if (this.#accounts.get(account) !== health) health.close();
    if (before.size === 0) return;
    for (const [account, probe] of probes) this.#accounts.get(account)?.replaceProbe(probe);
    // The obstacle may have been an account that is gone.
    this.#decide();
  }

  /** Sends no more probes. */
  close(): void {
    clearTimeout(this.#graceTimer);
    for (const health of this.all()) health.close();
  }

  /**
   * An account that has worked is no obstacle any more. One that is refused always is, so that a rollout with a mistake
   * never replaces a good one. Anything else could be an outage, which is an obstacle for the time of grace only.
   */
  #decide(): void {
    const isObstacle = ({ finding: { hasWorked, state } }: AccountHealth) =>
      !hasWorked && (state === 'refused' || !this.#isGraceOver);
    if (!this.#deciding().some(isObstacle)) this.#becomeReady();
  }

  #deciding(): AccountHealth[] {
    const all = [...this.all()];
    return this.#options.check === 'all' ? all : all.slice(0, 1);
  }

  #becomeReady(): void {
    clearTimeout(this.#graceTimer);
    this.#isReady = true;
    this.#ready.resolve();
  }
}

/** An account at another address begins anew: what the old address has shown proves nothing about the new one. */
function keptOf(before: ReadonlyMap<string, AccountHealth>, account: string, probe: Probe): AccountHealth | undefined {
  const known = before.get(account);
  return known?.probe.origin === probe.origin ? known : undefined;
}
