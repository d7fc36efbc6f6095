import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { DeviceTrustError } from '../errors.ts';
import type { Resolver } from '../runtime/dns.ts';
import { isFailedConnect, UpstreamPool } from './pool.ts';
import { COMPRESSED, encodingOf, type ResponseBody, readBody, readEncodedBody } from './response-body.ts';
import { isClosed, toUpstreamError } from './transport-errors.ts';

/** The response of an upstream, before anyone has checked whether it is as documented. */
export interface UpstreamResponse extends ResponseBody {
  readonly status: number;
  /** The header `Retry-After` of a 429. */
  readonly retryAfter?: string | undefined;
}

/** The sockets to one upstream service: a pool for each address. The policies limit how many are in use. */
export class Transport {
  readonly #pools = new Map<string, UpstreamPool>();
  readonly #resolver: Resolver;

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  /**
   * The pool of an address, which opens no socket before its first request.
   *
   * @param origin scheme, host and port
   * @throws the error of undici, if this is not an origin
   */
  poolFor(origin: string): UpstreamPool {
    const known = this.#pools.get(origin);
    if (known) return known;
    const pool = new UpstreamPool(origin, this.#resolver);
    this.#pools.set(origin, pool);
    return pool;
  }

  /** Closes every socket. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }
}

/**
 * One request until its whole response has arrived. It handles undici's dispatch itself, because `request()` with its
 * streams and signals costs twice as much. An abort settles it at once, even while undici still waits for a connection.
 */
export class PendingRequest implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  readonly #response = Promise.withResolvers<UpstreamResponse>();
  readonly #pool: UpstreamPool;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #lookupMsBefore: number;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  /** Of the response; undefined if it is not compressed. */
  #encoding: string | undefined;
  #retryAfter: string | undefined;
  #isSettled = false;
  #isSecondAttempt = false;
  #isOnReusedSocket = false;
  /** Known once the request has a socket. */
  #lookupMs: number | undefined;

  constructor(pool: UpstreamPool, options: Dispatcher.DispatchOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#lookupMsBefore = pool.totalLookupMs();
  }

  /** For how long this request has waited for a look-up, in ms. */
  get lookupMs(): number {
    return this.#lookupMs ?? this.#pool.totalLookupMs() - this.#lookupMsBefore;
  }

  /**
   * Sends the request.
   *
   * @throws DeviceTrustError UPSTREAM_UNAVAILABLE or UPSTREAM_PROTOCOL_ERROR; OVERLOADED if this machine has no more
   *   sockets, if its resolver fails, or if an old socket was closed; or the reason of the abort
   */
  send(): Promise<UpstreamResponse> {
    this.#pool.dispatch(this.#options, this);
    return this.#response.promise;
  }

  /** Rejects with this reason, unless it has settled, and closes the socket. */
  abort(reason: Error): void {
    if (this.#isSettled) return;
    this.#reject(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isSettled) controller.abort(new DeviceTrustError('CANCELLED'));
    this.#controller = controller;
    this.#isOnReusedSocket = !this.#pool.isOpening;
    this.#lookupMs = this.lookupMs;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return; // 1xx: the response is still to come
    this.#status = status;
    // A list if it was sent twice, whatever its type says. Nobody can tell then for how long to wait.
    const retryAfter: unknown = headers['retry-after'];
    if (status === 429 && typeof retryAfter === 'string') this.#retryAfter = retryAfter;
    const encodings = headers['content-encoding'];
    if (encodings !== undefined) this.#encoding = encodingOf(encodings);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...others] = this.#chunks;
    const bytes = first && others.length === 0 ? first : Buffer.concat(this.#chunks);
    const body = this.#encoding === undefined ? readBody(bytes) : readEncodedBody(bytes, this.#encoding);
    if (body) this.#resolve(body);
    else this.#failBody(new DeviceTrustError('UPSTREAM_PROTOCOL_ERROR', { internal: COMPRESSED }));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isSettled) return;
    if (isFailedConnect(error) && !this.#isSecondAttempt) {
      this.#isSecondAttempt = true;
      this.#pool.dispatch(this.#options, this);
      return;
    }
    if (this.#isOnReusedSocket && this.#status === 0 && isClosed(error)) {
      // Nobody can tell whether the upstream has read the request, so it is not sent again. It may just have closed an idle
      // connection, and using that one was our choice.
      this.#reject(new DeviceTrustError('OVERLOADED', { internal: 'an old socket was closed' }));
      return;
    }
    this.#failBody(toUpstreamError(error));
  }

  /** A status of 400 or more is a response by itself, whatever is wrong with its body. */
  #failBody(error: DeviceTrustError): void {
    if (this.#status >= 400) this.#resolve({ json: undefined });
    else this.#reject(error);
  }

  #resolve(body: ResponseBody): void {
    this.#isSettled = true;
    this.#response.resolve({
      status: this.#status,
      ...body,
      ...(this.#retryAfter && { retryAfter: this.#retryAfter }),
    });
  }

  #reject(error: Error): void {
    this.#isSettled = true;
    this.#response.reject(error);
  }
}
