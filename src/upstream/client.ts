import { DeviceTrustError } from '../errors.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Operation } from '../observability/operation.ts';
import { Deadline } from '../runtime/event-loop.ts';
import { Bulkhead } from './bulkhead.ts';
import { HEALTH_STATES } from './health-table.ts';
import type { Quota } from './quota.ts';
import { ServiceHealth, type ServiceHealthOptions } from './service-health.ts';
import { type PendingRequest, UpstreamPool, type UpstreamResponse } from './transport.ts';
import { isUpstreamFailure } from './transport-errors.ts';

/** What calls have to do with their operation. */
export type CallOperation = Pick<
  Operation,
  'requestId' | 'signal' | 'recordCall' | 'startCallSpan' | 'responsesWeightLeft'
>;

export interface UpstreamRequest {
  /** Each region has a bulkhead of its own: the failure of one must not affect another. */
  readonly region: string;
  /** The public key or captcha id: each has a quota, pauses and a health of its own. Not a secret. */
  readonly account: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  /** The path as the service's document has it, with names in braces in the place of ids. */
  readonly pathTemplate: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly operation: CallOperation;
}

/** What a client needs to know about its service and its limits, and where it reports. */
export interface UpstreamOptions extends ServiceHealthOptions {
  readonly metrics: Metrics;
  /** Calls that may be under way at once in one region; as many may wait for one of them to end. */
  readonly upstreamMaxInFlight: number;
  /** How many calls may be sent for each account; undefined if as many as come. */
  readonly quota: Quota | undefined;
}

/** After half of the deadline without an answer probes ask whether the service is well, but at most after this, in ms. */
const MAX_PROBE_AFTER_MS = 700;

/** The client of one upstream service, with its sockets and with one bulkhead for each region. It opens no socket before the first request. */
export class UpstreamClient {
  /** The health of each account, which decides whether its calls are sent. */
  readonly health: ServiceHealth;
  readonly #options: UpstreamOptions;
  readonly #bulkheads = new Map<string, Bulkhead>();
  readonly #pools = new Map<string, UpstreamPool>();

  constructor(options: UpstreamOptions) {
    const { service, metrics, quota } = options;
    this.#options = options;
    this.health = new ServiceHealth(options);
    metrics.watchBulkheads(service, () => this.#bulkheads);
    metrics.watchHealth(service, HEALTH_STATES, () => this.health.all());
    metrics.watchQuota(service, () => quota?.states() ?? []);
  }

  /**
   * Sends one request and reads the whole response before the deadline. It is sent at most once: a second one would be a new
   * event upstream. Only a connection that could not be made, so that no byte was sent, is tried again, once.
   *
   * @throws DeviceTrustError with an UPSTREAM code; OVERLOADED for a limit, a look-up or a delay of our own; QUOTA_EXCEEDED; or the
   *   reason of the operation's signal
   */
  async post(request: UpstreamRequest): Promise<UpstreamResponse> {
    const { account, region, origin, path, headers, body, operation } = request;
    const { timeoutMs, eventLoop, quota } = this.#options;
    operation.signal.throwIfAborted();
    const health = this.health.find(account);
    const bulkhead = this.#bulkheadFor(region);
    const isHalfOpen = health?.admit(!bulkhead.isFull && !quota?.isUsedUp(account)) ?? false;
    quota?.check(account);

    const wasQueued = !bulkhead.tryEnter();
    let pending: PendingRequest | undefined;
    // A call that had to wait in the queue is late because of our own limit.
    const expired = () => {
      const isOurs = wasQueued || !pending || deadline.isOurDelay(pending.lookupMs);
      return new DeviceTrustError(isOurs ? 'OVERLOADED' : 'UPSTREAM_TIMEOUT', {
        internal: `no answer within ${timeoutMs} ms`,
      });
    };
    // Everybody waits for what the half-open call shows, so it goes on when its caller leaves.
    const deadline = new Deadline(timeoutMs, eventLoop, expired, isHalfOpen ? undefined : operation.signal);
    // The response takes long, so probes find out whether the service is well.
    const probeAfterMs = Math.min(timeoutMs / 2, MAX_PROBE_AFTER_MS);
    const unanswered = setTimeout(() => pending && this.health.requestProbe(account), probeAfterMs);
    try {
      if (wasQueued) await bulkhead.wait(operation, deadline.signal);
      try {
        // It was asked before the call waited, but may have changed since.
        if (wasQueued && !isHalfOpen) health?.admit();
        await quota?.take(account);
        deadline.signal.throwIfAborted();
        pending = this.#poolFor(origin).post({ path, headers, body }, deadline.signal, operation);
        const response = await this.#report(request, pending.response);
        // This comes before the bulkhead lets the next call of the queue run, which may be for the same account.
        if (response.retryAfterMs !== undefined) health?.pause(response.retryAfterMs);
        return response;
      } finally {
        bulkhead.release();
      }
    } catch (error) {
      // A limit of our own kept it from the service.
      if (isHalfOpen && !isUpstreamFailure(error)) health?.halfOpenAgain();
      throw error;
    } finally {
      deadline.stop();
      clearTimeout(unanswered);
    }
  }

  /** Reports a call that is under way when it ends: in its operation, its span and the metrics. */
  async #report(request: UpstreamRequest, response: Promise<UpstreamResponse>): Promise<UpstreamResponse> {
    const { service, metrics } = this.#options;
    const { region, origin, pathTemplate, operation } = request;
    const sentAt = performance.now();
    const endSpan = operation.startCallSpan?.({ service, region, origin, pathTemplate });
    const end = (outcome: string, status?: number) => {
      const ms = performance.now() - sentAt;
      operation.recordCall(ms);
      endSpan?.(outcome, status);
      metrics.recordCall(service, region, outcome, ms);
    };
    try {
      const { status } = await response;
      end(outcomeOf(status), status);
    } catch (error) {
      end(error instanceof DeviceTrustError ? error.code : 'CANCELLED');
    }
    return response;
  }

  async close(): Promise<void> {
    this.health.close();
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  /** @throws the error of undici, if this is not an origin */
  #poolFor(origin: string): UpstreamPool {
    const pool = this.#pools.get(origin) ?? new UpstreamPool(origin, this.#options.dns);
    this.#pools.set(origin, pool);
    return pool;
  }

  #bulkheadFor(region: string): Bulkhead {
    const bulkhead = this.#bulkheads.get(region) ?? new Bulkhead(this.#options.upstreamMaxInFlight);
    this.#bulkheads.set(region, bulkhead);
    return bulkhead;
  }
}

function outcomeOf(status: number): string {
  if (status < 400) return 'ok';
  if (status === 429) return 'http_429';
  return status < 500 ? 'http_4xx' : 'http_5xx';
}
