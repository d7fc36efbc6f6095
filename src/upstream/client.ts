import { DeviceTrustError } from '../errors.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { StartCallSpan } from '../observability/tracing.ts';
import { isOurDelay } from '../runtime/event-loop.ts';
import { Bulkhead } from './bulkhead.ts';
import type { Quota } from './quota.ts';
import { ServiceHealth, type ServiceHealthOptions } from './service-health.ts';
import { type AnswerBudget, type PendingRequest, UpstreamPool, type UpstreamResponse } from './transport.ts';

/** The operation for which calls are made. */
export interface CallContext extends AnswerBudget {
  /** All log lines about the operation have this id. */
  readonly requestId: string;
  /** Aborts the calls of an operation whose client has disconnected. Its reason is an error. */
  readonly signal: AbortSignal;
  /** Counts a call that was sent and has ended, with its duration in ms. */
  recordCall(ms: number): void;
  /** Starts the span of a call; absent unless the operation is traced. */
  readonly startCallSpan?: StartCallSpan | undefined;
}

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
  readonly context: CallContext;
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
    metrics.watchHealth(service, () => this.health.all());
    metrics.watchQuota(service, () => quota?.states() ?? []);
  }

  /**
   * Sends one request and reads the whole response before the deadline. It is sent at most once: a second one would be a new
   * event upstream. Only a connection that could not be made, so that no byte was sent, is tried again, once.
   *
   * @throws DeviceTrustError UPSTREAM_TIMEOUT, UPSTREAM_UNAVAILABLE, UPSTREAM_REJECTED or UPSTREAM_PROTOCOL_ERROR; OVERLOADED if
   *   the queue is full, if our resolver fails, or if the deadline passes for a reason of our own; QUOTA_EXCEEDED;
   *   AccountPausedError; OutageError
   * @throws the reason of the context's signal, once the operation is cancelled
   */
  async post(request: UpstreamRequest): Promise<UpstreamResponse> {
    const { account, region, context } = request;
    const { service, timeoutMs, eventLoop, metrics, quota } = this.#options;
    context.signal.throwIfAborted();
    const health = this.health.find(account);
    const bulkhead = this.#bulkheadFor(region);
    const isTrial = health?.admit(!bulkhead.isFull && !quota?.isUsedUp(account));
    quota?.check(account);

    const lagBeforeMs = eventLoop.totalLagMs();
    const wasQueued = !bulkhead.tryEnter();
    // Undefined until the bulkhead admits the call: nothing is sent before, and there is nothing to report.
    let pending: PendingRequest | undefined;
    let sentAt = 0;
    let endSpan: ReturnType<StartCallSpan> | undefined;
    let outcome = 'CANCELLED';
    let status: number | undefined;

    /**
     * A call that had to wait in the queue is late because of our own limit. One during which the event loop lagged for long,
     * or which waited long for our resolver, is late because of us. If that counted as a fault of the service, a bot could turn
     * load into a captcha that proceeds.
     */
    const isOurFault = () =>
      wasQueued ||
      !pending ||
      isOurDelay({ lagMs: eventLoop.totalLagMs() - lagBeforeMs, lookupMs: pending.lookupMs }, timeoutMs);
    let ended: Error | undefined;
    const queued = wasQueued ? new AbortController() : undefined;
    const end = (reason: Error) => {
      ended ??= reason;
      queued?.abort(reason);
      pending?.abort(reason);
    };
    const cancel = () => end(context.signal.reason);
    const expire = () => {
      const code = isOurFault() ? 'OVERLOADED' : 'UPSTREAM_TIMEOUT';
      end(new DeviceTrustError(code, { internal: `no answer within ${timeoutMs} ms` }));
    };
    // Everybody waits for what the trial call shows, so it goes on when its caller leaves.
    if (!isTrial) context.signal.addEventListener('abort', cancel);
    // After a lag, the responses that have arrived meanwhile are read before the call expires.
    const deadline = setTimeout(() => setImmediate(expire), timeoutMs);
    // The response takes long, so probes find out whether the service is well.
    const unanswered = setTimeout(
      () => pending && this.health.requestProbe(account),
      Math.min(timeoutMs / 2, MAX_PROBE_AFTER_MS),
    );
    try {
      if (queued) await bulkhead.wait(context, queued.signal);
      try {
        // It was asked before the call waited, but may have changed since.
        if (wasQueued && !isTrial) health?.admit();
        await quota?.take(account);
        if (ended) throw ended;
        const { origin, path, pathTemplate, headers, body } = request;
        const pool = this.#poolFor(origin);
        sentAt = performance.now();
        endSpan = context.startCallSpan?.({ service, region, origin, pathTemplate });
        pending = pool.post({ path, headers, body }, context);
        const response = await pending.response;
        // This comes before the bulkhead lets the next call of the queue run, which may be for the same account.
        if (response.retryAfterMs !== undefined) health?.pause(response.retryAfterMs);
        ({ status } = response);
        outcome = outcomeOf(status);
        return response;
      } finally {
        bulkhead.release();
      }
    } catch (error) {
      if (error instanceof DeviceTrustError) outcome = error.code;
      // A limit of our own kept it from the service.
      if (isTrial && !outcome.startsWith('UPSTREAM_')) health?.admitAnother();
      throw error;
    } finally {
      clearTimeout(deadline);
      clearTimeout(unanswered);
      context.signal.removeEventListener('abort', cancel);
      if (pending) {
        const ms = performance.now() - sentAt;
        context.recordCall(ms);
        endSpan?.(outcome, status);
        metrics.recordCall(service, region, outcome, ms);
      }
    }
  }

  async close(): Promise<void> {
    this.health.close();
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  /** @throws the error of undici, if this is not an origin */
  #poolFor(origin: string): UpstreamPool {
    const pool = this.#pools.get(origin) ?? new UpstreamPool(origin, this.#options.resolver);
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
