/** The time between the first two probes, and the minimum between any two of an account, in ms. */
const MIN_INTERVAL_MS = 300;
/** The interval for an account that does not respond, or while another account of its service is down, in ms. */
const USUAL_INTERVAL_MS = 1_000;
/** The interval for an account that is refused, in ms. */
const REFUSED_INTERVAL_MS = 10_000;
/** The most probes of a service in a second, and at once: neither callers nor the number of accounts can make us flood it. */
const MAX_PER_SECOND = 10;

interface Plan {
  readonly id: string;
  /** Is the next probe the first one since `start`? */
  isFirst: boolean;
  lastProbeAt: number;
  /** When its next probe is due; undefined if none is planned, or if it is due already. Does not keep the process alive. */
  timer: NodeJS.Timeout | undefined;
}

/** Plans the probes of a service's accounts. Times are on the clock of `performance.now()`. */
export class ProbeSchedule {
  readonly #send: (id: string) => void;
  readonly #isRefused: (id: string) => boolean;
  readonly #plans: ReadonlyMap<string, Plan>;
  /** The accounts whose probe is due, but may exceed `MAX_PER_SECOND`, in the order in which they became due. */
  readonly #due = new Set<Plan>();
  #left = MAX_PER_SECOND;
  #countedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param send sends a probe of an account. It is not waited for, so probes may overlap */
  constructor(ids: readonly string[], isRefused: (id: string) => boolean, send: (id: string) => void) {
    this.#send = send;
    this.#isRefused = isRefused;
    const fresh = { isFirst: true, lastProbeAt: Number.NEGATIVE_INFINITY, timer: undefined };
    this.#plans = new Map(ids.map((id) => [id, { id, ...fresh }]));
  }

  /** Plans probes of an account until `stop`. A refused account gets its next one as soon as possible. */
  start(id: string): void {
    const plan = this.#plans.get(id);
    if (!plan || this.#isClosed) return;
    if (this.#due.has(plan) || (plan.timer && !this.#isRefused(id))) return;
    plan.isFirst = plan.timer === undefined;
    // Counted from the last probe, so that many calls cannot postpone one that is due.
    this.#planIn(plan, plan.lastProbeAt + MIN_INTERVAL_MS - performance.now());
  }

  /** Starts the probes of every account that has none planned, and no recent one. */
  startOthers(): void {
    for (const plan of this.#plans.values())
      if (performance.now() - plan.lastProbeAt >= USUAL_INTERVAL_MS) this.start(plan.id);
  }

  stop(id: string): void {
    const plan = this.#plans.get(id);
    if (!plan) return;
    clearTimeout(plan.timer);
    plan.timer = undefined;
    this.#due.delete(plan);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const id of this.#plans.keys()) this.stop(id);
  }

  #planIn(plan: Plan, ms: number): void {
    clearTimeout(plan.timer);
    const becomeDue = () => {
      plan.timer = undefined;
      this.#due.add(plan);
      this.#sendDue();
    };
    if (ms <= 0) becomeDue();
    else plan.timer = setTimeout(becomeDue, ms).unref();
  }

  /** Sends what is due, within the budget. What is due first is sent first, so that no account can keep another from its turn. */
  #sendDue(): void {
    const now = performance.now();
    this.#left = Math.min(MAX_PER_SECOND, this.#left + ((now - this.#countedAt) * MAX_PER_SECOND) / 1_000);
    this.#countedAt = now;
    for (const plan of this.#due) {
      if (this.#left < 1) break;
      this.#due.delete(plan);
      this.#left -= 1;
      const usualMs = this.#isRefused(plan.id) ? REFUSED_INTERVAL_MS : USUAL_INTERVAL_MS;
      this.#planIn(plan, plan.isFirst ? MIN_INTERVAL_MS : usualMs);
      Object.assign(plan, { isFirst: false, lastProbeAt: now });
      this.#send(plan.id);
    }
    if (this.#due.size === 0 || this.#timer) return;
    const sendLater = () => {
      this.#timer = undefined;
      this.#sendDue();
    };
    this.#timer = setTimeout(sendLater, 1_000 / MAX_PER_SECOND).unref();
  }
}
