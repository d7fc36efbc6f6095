import type { IncomingHttpHeaders } from 'node:http';
import { buildConnector, type Dispatcher, errors, Pool } from 'undici';
import { DeviceTrustError } from '../errors.ts';
import {
  COMPRESSED,
  encodingOf,
  MAX_BODY_BYTES,
  type ResponseBody,
  readBody,
  readEncodedBody,
} from './response-body.ts';

/** The response of an upstream, before anyone has checked whether it is as documented. */
export interface UpstreamResponse extends ResponseBody {
  readonly status: number;
  /** The header `Retry-After` of a 429. */
  readonly retryAfter?: string | undefined;
}

/** In ms. It is shorter than any sensible deadline, so that a connection that hangs leaves time for the second attempt. */
const CONNECT_TIMEOUT_MS = 1_500;

/** Errors of connections that could not be made: nothing was sent on them. */
const failedConnects = new WeakSet<Error>();

/** The sockets to one upstream service: a pool for each address. The policies limit how many are in use. */
export class Transport {
  readonly #pools = new Map<string, Pool>();
  readonly #connect = buildConnector({ allowH2: false, timeout: CONNECT_TIMEOUT_MS });

  /**
   * The pool of an address, which opens no socket before its first request.
   *
   * @param origin scheme, host and port
   * @throws the error of undici, if this is not an origin
   */
  poolFor(origin: string): Dispatcher {
    const known = this.#pools.get(origin);
    if (known) return known;
    const pool = new Pool(origin, {
      maxResponseSize: MAX_BODY_BYTES,
      allowH2: false,
      // Both are off, because they measure only the idle time between bytes. The deadline of the call covers that as well.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) =>
        this.#connect(options, (...[error, socket]) => {
          if (error === null) return callback(null, socket);
          failedConnects.add(error);
          callback(error, null);
        }),
    });
    this.#pools.set(origin, pool);
    return pool;
  }

  /** Closes every socket. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }
}

/**
 * One request until its whole response has arrived. It handles undici's dispatch itself, because `request()` with its
 * streams and signals costs twice as much. An abort settles it at once, even while undici still waits for a connection.
 */
export class PendingRequest implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  readonly #response = Promise.withResolvers<UpstreamResponse>();
  readonly #pool: Dispatcher;
  readonly #options: Dispatcher.DispatchOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  /** Of the response; undefined if it is not compressed. */
  #encoding: string | undefined;
  #retryAfter: string | undefined;
  #isSettled = false;
  #isSecondAttempt = false;

  constructor(pool: Dispatcher, options: Dispatcher.DispatchOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /**
   * Sends the request.
   *
   * @throws DeviceTrustError UPSTREAM_UNAVAILABLE or UPSTREAM_PROTOCOL_ERROR, OVERLOADED if this machine has no more
   *   sockets, or the reason of the abort
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
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return; // 1xx: the response is still to come
    this.#status = status;
    if (status === 429) this.#retryAfter = headers['retry-after'];
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
    if (failedConnects.has(error) && !this.#isSecondAttempt) {
      this.#isSecondAttempt = true;
      this.#pool.dispatch(this.#options, this);
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

/** Errors for a peer that breaks the rules of HTTP, or the size limit. */
const PROTOCOL_ERRORS = [
  errors.HTTPParserError,
  errors.HeadersOverflowError,
  errors.ResponseContentLengthMismatchError,
  errors.ResponseExceededMaxSizeError,
];

/**
 * The system's codes when a process or a machine has no more sockets. If these counted as a failure of the upstream, they
 * would become a captcha outcome, and many idle connections could let everybody proceed.
 */
const OUT_OF_SOCKETS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

/** Distinguishes errors of undici and node:net by class and code, never by their messages. */
function toUpstreamError(cause: unknown): DeviceTrustError {
  const { name, code = '' } = Object(cause);
  const internal = `${name} ${code}`.trim();
  if (OUT_OF_SOCKETS.has(code)) return new DeviceTrustError('OVERLOADED', { internal });
  const isProtocol = PROTOCOL_ERRORS.some((type) => cause instanceof type);
  return new DeviceTrustError(isProtocol ? 'UPSTREAM_PROTOCOL_ERROR' : 'UPSTREAM_UNAVAILABLE', { internal });
}
