import type { Dispatcher } from 'undici';
import { asError, DeviceTrustError } from '../errors.ts';
import type { Stalls } from '../runtime/event-loop.ts';
import type { Leave } from './bulkhead.ts';
import type { Caller, CallSpan, Cancellable } from './call-context.ts';
import type { Guard } from './policy.ts';
import { Exchange, type UpstreamAnswer } from './transport.ts';

/** A late call is our own fault if the process was busy for more than a quarter of its deadline, and for more than this, in ms. */
const MIN_STALL_MS = 250;

/** One POST to an upstream. */
export interface UpstreamRequest {
  /** Each region is guarded by itself: one that fails must not take another along. */
  readonly region: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For everything from connecting to the last byte of the body, in ms. */
  readonly timeoutMs: number;
  readonly caller: Caller;
}

/** What all calls of one service share. */
export interface Upstream {
  /** The service's name, for traces. */
  readonly service: string;
  /** The guard of a region, always the same one. */
  readonly guardFor: (region: string) => Guard<UpstreamAnswer>;
  /** Told of each call that was made how it ended (`ok`, `http_4xx`, `http_5xx` or a code of `errors.ts`), after how long. */
  readonly onCall: (region: string, outcome: string, ms: number) => void;
  readonly poolOf: (origin: string) => Dispatcher;
  /** Did this error come from a connection that could not be made? */
  readonly isFailedConnect: (error: Error) => boolean;
  readonly stalls: Pick<Stalls, 'totalMs'>;
}

/**
 * One request on its way: sent as soon as the guard lets it, over when it is answered, late, or no longer wanted. It is one
 * object, and not one closure in another, because an operation can have hundreds of them under way.
 */
export class Call implements Cancellable {
  readonly #request: UpstreamRequest;
  readonly #upstream: Upstream;
  readonly #resolve: (answer: UpstreamAnswer) => void;
  readonly #reject: (error: Error) => void;
  readonly #stalledBefore: number;
  readonly #hadRoom: boolean;
  readonly #timer: NodeJS.Timeout;
  /** Undefined while the call waits for the guard; nothing was asked of the upstream then, and there is nothing to tell. */
  #exchange: Exchange | undefined;
  #isProbe = false;
  #sentAt = 0;
  #span: CallSpan | undefined;
  #isTold = false;
  /** Ends its waiting; absent unless it has to wait for room. */
  #leave: Leave | undefined;
  /** Why it must not be sent any more. */
  #givenUp: Error | undefined;

  constructor(
    request: UpstreamRequest,
    upstream: Upstream,
    resolve: (answer: UpstreamAnswer) => void,
    reject: (error: Error) => void,
  ) {
    this.#request = request;
    this.#upstream = upstream;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#stalledBefore = upstream.stalls.totalMs();
    const guarded = upstream.guardFor(request.region).run(
      (isProbe) => this.#send(isProbe),
      (leave) => {
        this.#leave = leave;
      },
    );
    this.#hadRoom = this.#exchange !== undefined;
    // What has arrived while the process was busy is read first.
    this.#timer = setTimeout(() => setImmediate(() => this.#expire()), request.timeoutMs);
    request.caller.cancellation.add(this);
    guarded.then(
      (answer) => {
        this.#release();
        this.#tell(outcomeOf(answer));
        this.#resolve(answer);
      },
      (error) => {
        this.#release();
        this.#fail(error);
      },
    );
  }

  /** Nobody waits for the answer any more. */
  cancelled(reason: Error): void {
    // A bot that could end probes by hanging up could keep the breaker open.
    if (this.#isProbe) this.#fail(reason);
    else this.#giveUp(reason);
  }

  #send(isProbe: boolean): Promise<UpstreamAnswer> {
    if (this.#givenUp) throw this.#givenUp;
    const { region, origin, path, headers, body, caller } = this.#request;
    const { service, poolOf, isFailedConnect } = this.#upstream;
    const pool = poolOf(origin);
    this.#isProbe = isProbe;
    this.#sentAt = performance.now();
    this.#span = caller.startSpan?.(service, region);
    const allHeaders = this.#span ? { ...headers, ...this.#span.headers } : headers;
    this.#exchange = new Exchange(pool, { path, method: 'POST', headers: allHeaders, body }, isFailedConnect);
    return this.#exchange.start();
  }

  #expire(): void {
    const { timeoutMs } = this.#request;
    const code = this.#isOurs() ? 'OVERLOADED' : 'UPSTREAM_TIMEOUT';
    this.#giveUp(new DeviceTrustError(code, { internal: `no answer within ${timeoutMs} ms` }));
  }

  /**
   * A call that finds room begins at once. One that had to wait for it is late by our own limit, and so is one during which
   * the process was busy with something else for long: told as a fault of the service it would be an outcome, and load
   * could be turned into a captcha that proceeds.
   */
  #isOurs(): boolean {
    const stalledMs = this.#upstream.stalls.totalMs() - this.#stalledBefore;
    return !this.#hadRoom || stalledMs > Math.max(this.#request.timeoutMs / 4, MIN_STALL_MS);
  }

  #giveUp(reason: Error): void {
    this.#givenUp = reason;
    this.#exchange?.cancel(reason);
    // First, because what it was given up for is what its caller hears.
    this.#fail(reason);
    this.#leave?.();
  }

  #fail(error: Error): void {
    this.#tell(error instanceof DeviceTrustError ? error.code : 'CANCELLED');
    this.#reject(error);
  }

  /** Once, and only of what was sent. */
  #tell(outcome: string): void {
    if (this.#isTold) return;
    this.#isTold = true;
    if (!this.#exchange) return;
    const { caller, region } = this.#request;
    const ms = performance.now() - this.#sentAt;
    caller.calls += 1;
    caller.callMs += ms;
    try {
      this.#span?.end(outcome);
      this.#upstream.onCall(region, outcome, ms);
    } catch (error) {
      // Nobody would catch it on the way up.
      this.#reject(asError(error));
    }
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#request.caller.cancellation.remove(this);
  }
}

function outcomeOf({ status }: UpstreamAnswer): string {
  if (status < 400) return 'ok';
  return status < 500 ? 'http_4xx' : 'http_5xx';
}
