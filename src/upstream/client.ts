import type { Logger } from 'pino';
import type { QuotaLimits } from '../callers/limits.ts';
import type { Callers, Holder } from '../callers/shares.ts';
import { DeviceTrustError } from '../errors.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Operation } from '../observability/operation.ts';
import { createDnsCache } from '../runtime/dns.ts';
import { Bulkhead } from './bulkhead.ts';
import { type EventLoop, startDeadline } from './deadline.ts';
import { createServiceHealth, type HealthOptions, type ServiceHealth } from './health.ts';
import type { Evidence } from './health-table.ts';
import { type CallOutcome, createUpstreamMetrics, type DocumentedOutcome } from './metrics.ts';
import { openPool, type UpstreamPool } from './pool.ts';
import type { Probe } from './probe.ts';
import { createQuota, type Quota } from './quota.ts';
import { counterOfProcess, openQuotaStore } from './quota-store.ts';
import type { UpstreamSettings } from './settings.ts';
import type { Account, PendingRequest, ResponseBytes, UpstreamResponse } from './transport.ts';

/** The request that makes a call. */
export interface CallContext extends ResponseBytes {
  readonly operation: Pick<Operation, 'requestId' | 'startCall'>;
  readonly caller: Holder;
  /** Aborted if the client disconnects. */
  readonly signal: AbortSignal;
}

export interface UpstreamRequest {
  readonly account: Account;
  readonly body: string;
  readonly context: CallContext;
  /** The time for this call, in ms, if it is less than that of the service. */
  readonly timeoutMs?: number;
}

/** What a response means: to the caller, to the health of its account, and for the metrics. */
export interface Reading<Result> {
  readonly result: Result | DeviceTrustError;
  readonly evidence: Evidence;
  /** Undefined if the response is not as documented. */
  readonly outcome: DocumentedOutcome | undefined;
}

type Read<Result> = (response: UpstreamResponse) => Reading<Result>;

/** The options that every service has, with its own name and quota. */
export interface SharedOptions extends Omit<HealthOptions, 'timeoutMs'> {
  readonly quota: Quota;
}

export interface UpstreamOptions<Configured extends Account> extends SharedOptions {
  readonly timeoutMs: number;
  readonly accounts: readonly Configured[];
  readonly probeOf: (account: Configured) => Probe;
  /** The path of calls as in the service's documentation, with names in braces instead of ids. */
  readonly pathTemplate: string;
  readonly onCall?: () => void;
}

/** The evidence of an answer that does not end its connection. */
const IS_USUAL: ReadonlySet<Evidence> = new Set(['well', 'answered']);

/** A call without an answer starts probes after this many ms, or after half of its deadline if that is sooner. */
const MAX_PROBE_AFTER_MS = 700;

/** The client of one upstream service, with its sockets and a bulkhead for each region. It opens sockets as requests need them. */
export class UpstreamClient<Configured extends Account = Account> {
  readonly health: ServiceHealth;
  readonly #options: UpstreamOptions<Configured>;
  readonly #accounts: ReadonlyMap<string, Configured>;
  readonly #bulkheads = new Map<string, Bulkhead>();
  readonly #pools = new Map<string, UpstreamPool>();

  constructor(options: UpstreamOptions<Configured>) {
    const { service, accounts, metrics, quota } = options;
    this.#options = options;
    this.#accounts = new Map(accounts.map((account) => [account.id, account]));
    this.health = createServiceHealth(accounts.map(options.probeOf), options);
    metrics.watchService(service, this.health.accounts, this.#bulkheads, quota);
  }

  /** The ids of all accounts, the default one first. */
  get ids(): string[] {
    return [...this.#accounts.keys()];
  }

  /** The account with this id, or the default account without an id; undefined if the id is unknown or there is no account. */
  find(id: string | null | undefined): Configured | undefined {
    const [first] = this.#accounts.values();
    return id == null ? first : this.#accounts.get(id);
  }

  /**
   * Sends one request, at most once, because each request is a new event upstream. Only a failed connection is tried again. The
   * evidence of its response, or the error, updates the health of the account.
   *
   * @throws the error of `read`; an UPSTREAM code; OVERLOADED for a limit, a look-up or a delay of our own;
   *   QUOTA_EXCEEDED; RATE_LIMITED; or the signal's reason
   */
  async call<Result>(request: UpstreamRequest, read: Read<Result>): Promise<Result> {
    const { account, body, context, timeoutMs = this.#options.timeoutMs } = request;
    const { id, region } = account;
    const { eventLoop, quota } = this.#options;
    context.signal.throwIfAborted();
    const bulkhead = this.#bulkheadFor(region);
    const permit = this.health.admit(id, !bulkhead.isFull);
    const cancellation = permit.isTrial ? undefined : context.signal;
    const pool = this.#poolFor(account);
    let sent: PendingRequest | undefined;
    const fail = (error: unknown): never => {
      permit.fail(error, sent !== undefined);
      throw error;
    };
    const lookUp = pool.lookUp();
    if (lookUp) await lookUp.then(() => cancellation?.throwIfAborted()).catch(fail);

    const wasQueued = !bulkhead.tryEnter();
    // A call that was queued is late because of our own limit.
    const deadline = startDeadline(timeoutMs, eventLoop, () => (wasQueued ? undefined : sent), cancellation);
    const probeAfterMs = Math.min(timeoutMs / 2, MAX_PROBE_AFTER_MS);
    const unanswered = setTimeout(() => sent && this.health.requestProbe(id), probeAfterMs);
    let reading: Reading<Result>;
    try {
      if (wasQueued) await bulkhead.wait(context.caller.name, context, deadline.signal);
      try {
        if (wasQueued) permit.confirm();
        await quota.take(id, context.caller);
        deadline.signal.throwIfAborted();
        sent = pool.post(account, body, deadline.signal, context);
        sent.whenOpened(deadline.sent);
        reading = await this.#read(request, sent, read);
        // Before the bulkhead lets the next call run, which may be for the same account.
        permit.settle(reading.evidence);
      } finally {
        if (sent) sent.whenOpened(() => bulkhead.release());
        else bulkhead.release();
      }
    } catch (error) {
      return fail(error);
    } finally {
      deadline.stop();
      clearTimeout(unanswered);
    }
    const { result } = reading;
    if (result instanceof DeviceTrustError) throw result;
    return result;
  }

  /** Reads a response, and reports the end of the call. */
  async #read<Result>(
    { account, context }: UpstreamRequest,
    sent: PendingRequest,
    read: Read<Result>,
  ): Promise<Reading<Result>> {
    const { service, pathTemplate, metrics, onCall } = this.#options;
    const { region, origin } = account;
    const sentAt = performance.now();
    const recordEnd = context.operation.startCall({ service, region, origin, pathTemplate });
    const end = (outcome: CallOutcome, status?: number) => {
      const call = { service, region, outcome, status, ms: performance.now() - sentAt };
      for (const tell of [recordEnd, metrics.recordCall, onCall]) tell?.(call);
    };
    try {
      const received = await sent.response;
      const reading = read(received);
      // Behind a load balancer one backend may be broken, or all of them.
      if (!IS_USUAL.has(reading.evidence)) sent.endConnection();
      end(reading.outcome ?? outcomeOf(received.status), received.status);
      return reading;
    } catch (error) {
      end(error instanceof DeviceTrustError ? error.code : 'CANCELLED');
      throw error;
    }
  }

  async close(): Promise<void> {
    this.health.close();
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  #poolFor({ id, origin }: Account): UpstreamPool {
    const { dns, timeoutMs, probeOf } = this.#options;
    const account = this.#accounts.get(id);
    const pool = this.#pools.get(origin) ?? openPool(origin, dns, { timeoutMs, probe: account && probeOf(account) });
    this.#pools.set(origin, pool);
    return pool;
  }

  #bulkheadFor(region = ''): Bulkhead {
    const bulkhead = this.#bulkheads.get(region) ?? new Bulkhead(this.#options.upstreamMaxInFlight);
    this.#bulkheads.set(region, bulkhead);
    return bulkhead;
  }
}

function outcomeOf(status: number): CallOutcome {
  if (status < 400) return 'UPSTREAM_PROTOCOL_ERROR';
  if (status === 429) return 'http_429';
  return status < 500 ? 'http_4xx' : 'http_5xx';
}

interface Shared {
  readonly settings: UpstreamSettings;
  readonly callers: Callers;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly eventLoop: EventLoop;
}

/** Opens what the clients of all services share: the metrics, the quota store and the DNS cache. */
export async function openUpstreams({ settings, callers, log, metrics, eventLoop }: Shared) {
  const upstreamMetrics = createUpstreamMetrics(metrics.registry);
  const { quotaStoreUrl } = settings;
  const store = quotaStoreUrl === undefined ? undefined : await openQuotaStore(quotaStoreUrl, log, upstreamMetrics);
  const counter = store?.counter ?? counterOfProcess();
  const dns = createDnsCache({
    failed: (host, code, isFirst) => {
      metrics.recordFailedLookup();
      if (isFirst) log.warn({ internal: `look-up ${code} of ${host}` }, LOOKUP_FAILS);
    },
    recovered: (host) => log.info({ internal: `look-up of ${host}` }, 'The host name can be looked up again.'),
  });
  const shared = { ...settings, log, dns, eventLoop, metrics: upstreamMetrics };
  return {
    optionsOf: (service: string, limits: QuotaLimits = {}): SharedOptions => ({
      ...shared,
      service,
      quota: createQuota(service, limits, callers, upstreamMetrics, counter),
    }),
    close: () => store?.close(),
  };
}

const LOOKUP_FAILS =
  'A host name cannot be looked up because of our network: the resolver, a network policy, or the name. The known addresses are used for 5 minutes, and then every call fails.';
