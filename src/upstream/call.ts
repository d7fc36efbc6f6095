import { asError, DeviceTrustError } from '../errors.ts';
import type { CallSpan } from '../observability/tracing.ts';
import { type EventLoopMonitor, lagExcuses } from '../runtime/event-loop.ts';
import type { Admissible, Bulkhead } from './bulkhead.ts';
import type { Cancellable } from './call-context.ts';
import type { Pauses } from './pauses.ts';
import type { Quota } from './quota.ts';
import type { UpstreamRequest } from './request.ts';
import type { ServiceHealth } from './service-health.ts';
import type { PendingRequest, Transport, UpstreamResponse } from './transport.ts';

/** After half of the deadline without an answer a probe asks whether the service is well, but at most after this, in ms. */
const MAX_DOUBT_AFTER_MS = 700;

/** What all calls of one upstream service share. */
export interface CallService {
  /** The name of the service, for traces. */
  readonly service: string;
  readonly bulkheadFor: (region: string) => Bulkhead;
  readonly health: ServiceHealth;
  readonly transport: Transport;
  readonly eventLoop: Pick<EventLoopMonitor, 'totalLagMs'>;
  readonly pauses: Pauses;
  /** Undefined if calls are not limited. */
  readonly quota: Quota | undefined;
  /** Called for each call that was sent: its outcome is `ok`, `http_429`, `http_4xx`, `http_5xx` or a code of `errors.ts`. */
  readonly onCall: (region: string, outcome: string, ms: number) => void;
}

/**
 * One call: it is sent when the bulkhead admits it, and ends with the response, at its deadline or when it is aborted. It
 * is one object and not a nest of closures, because an operation can have hundreds of calls under way.
 */
export class Call implements Admissible, Cancellable {
  readonly #request: UpstreamRequest;
  readonly #service: CallService;
  readonly #bulkhead: Bulkhead;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #lagBeforeMs: number;
  #wasQueued = false;
  #timer: NodeJS.Timeout;
  /** Undefined until the bulkhead admits the call: nothing is sent before, and there is nothing to report. */
  #pending: PendingRequest | undefined;
  #sentAt = 0;
  #span: CallSpan | undefined;
  #isReported = false;
  /** Why the call must not be sent any more. */
  #stopReason: Error | undefined;

  constructor(
    request: UpstreamRequest,
    service: CallService,
    resolve: (response: UpstreamResponse) => void,
    reject: (error: Error) => void,
  ) {
    this.#request = request;
    this.#service = service;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#lagBeforeMs = service.eventLoop.totalLagMs();
    this.#bulkhead = service.bulkheadFor(request.region);
    // One timer at a time serves both the doubt and the deadline, because most calls need neither.
    const doubtAfterMs = Math.min(request.timeoutMs / 2, MAX_DOUBT_AFTER_MS);
    const deadline = performance.now() + request.timeoutMs;
    this.#timer = setTimeout(() => this.#doubt(deadline), doubtAfterMs);
    request.context.cancellation.add(this);
    this.#wasQueued = this.#bulkhead.admit(request.context, this);
  }

  /** Sends the call, now that the bulkhead admits it. */
  begin(): void {
    try {
      this.#send().then(
        (response) => this.#receive(response),
        (error) => this.#endWith(error),
      );
    } catch (error) {
      this.#endWith(asError(error));
    }
  }

  /** Ends the call because the bulkhead does not admit it. */
  refuse(error: Error): void {
    this.#disarm();
    this.#fail(error);
  }

  /** Ends the call because nobody waits for its response any more, or because its time is over. */
  abort(reason: Error): void {
    this.#stopReason = reason;
    this.#pending?.abort(reason);
    this.#fail(reason);
    // A call that has left the queue ends where it notices the reason: before it is sent, or when its request has failed.
    if (this.#bulkhead.remove(this.#request.context, this)) this.#disarm();
  }

  #send(): Promise<UpstreamResponse> {
    if (this.#stopReason) throw this.#stopReason;
    const { account } = this.#request;
    const { health, pauses, quota } = this.#service;
    if (this.#wasQueued) {
      // The client checks both before it makes a call. They may have changed while this one was in the queue.
      health.find(account)?.check();
      pauses.check(account);
    }
    const counted = quota?.take(account);
    return counted ? counted.then(() => this.#dispatch()) : this.#dispatch();
  }

  #dispatch(): Promise<UpstreamResponse> {
    if (this.#stopReason) throw this.#stopReason;
    const { region, origin, path, pathTemplate, headers, body, context } = this.#request;
    const { service, transport } = this.#service;
    const pool = transport.poolFor(origin);
    this.#sentAt = performance.now();
    this.#span = context.startSpan?.({ service, region, origin, pathTemplate });
    const allHeaders = this.#span ? { ...headers, ...this.#span.headers } : headers;
    this.#pending = pool.post({ path, headers: allHeaders, body });
    return this.#pending.response;
  }

  #receive(response: UpstreamResponse): void {
    try {
      // This comes before the bulkhead admits the next call of the queue, which may be for the same account.
      if (response.status === 429) this.#service.pauses.pause(this.#request.account, response.retryAfter);
    } catch (error) {
      this.#reject(asError(error)); // As in `#report`, nothing else would catch it, and the process would end.
    }
    this.#bulkhead.release();
    this.#disarm();
    this.#report(outcomeOf(response), response.status);
    this.#resolve(response);
  }

  /** Ends a call that the bulkhead has admitted. */
  #endWith(error: Error): void {
    this.#bulkhead.release();
    this.#disarm();
    this.#fail(error);
  }

  /** The response takes long, so a probe finds out whether the service is well before the deadline passes. */
  #doubt(deadline: number): void {
    if (this.#pending) this.#service.health.find(this.#request.account)?.doubt();
    // After a lag, the responses that have arrived meanwhile are read before the call expires.
    const remainingMs = Math.max(0, deadline - performance.now());
    this.#timer = setTimeout(() => setImmediate(() => this.#expire()), remainingMs);
  }

  #expire(): void {
    const { timeoutMs } = this.#request;
    const code = this.#isOurFault() ? 'OVERLOADED' : 'UPSTREAM_TIMEOUT';
    this.abort(new DeviceTrustError(code, { internal: `no answer within ${timeoutMs} ms` }));
  }

  /**
   * A call that had to wait in the queue is late because of our own limit. One during which the event loop lagged for
   * long, or which waited long for our resolver, is late because of us. If that counted as a fault of the service, a bot
   * could turn load into a captcha that proceeds.
   */
  #isOurFault(): boolean {
    const lagMs = this.#service.eventLoop.totalLagMs() - this.#lagBeforeMs;
    if (this.#wasQueued || !this.#pending || lagExcuses(lagMs, this.#request.timeoutMs)) return true;
    return this.#pending.lookupMs > this.#request.timeoutMs / 4;
  }

  #fail(error: Error): void {
    this.#report(error instanceof DeviceTrustError ? error.code : 'CANCELLED');
    this.#reject(error);
  }

  /** Reports the call once, and only if it was sent. */
  #report(outcome: string, status?: number): void {
    if (this.#isReported) return;
    this.#isReported = true;
    if (!this.#pending) return;
    const { context, region } = this.#request;
    const ms = performance.now() - this.#sentAt;
    try {
      context.recordCall(ms);
      this.#span?.end(outcome, status);
      this.#service.onCall(region, outcome, ms);
    } catch (error) {
      // It is not thrown, because nothing would catch it in an event of a timer or a socket.
      this.#reject(asError(error));
    }
  }

  /** Nothing can end the call any more. */
  #disarm(): void {
    clearTimeout(this.#timer);
    this.#request.context.cancellation.remove(this);
  }
}

function outcomeOf({ status }: UpstreamResponse): string {
  if (status < 400) return 'ok';
  if (status === 429) return 'http_429';
  return status < 500 ? 'http_4xx' : 'http_5xx';
}
