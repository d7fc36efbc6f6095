import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import { DeviceTrustError } from '../errors.ts';
import { decodeUtf8, parseJson } from '../runtime/json.ts';

/** What came back, before anyone asked whether it is as documented. */
export interface UpstreamAnswer {
  readonly status: number;
  /** The parsed body, free of `__proto__` and its like; undefined if it is not JSON in UTF-8. */
  readonly json: unknown;
  /** The same of a body that is not UTF-8, with U+FFFD where it is not. To be believed only where it speaks against someone. */
  readonly mangledJson?: unknown;
}

/**
 * One request and its whole answer, at the level where undici has neither streams nor signals: its `request()` costs twice
 * as much. It can be cancelled at any time, and settles at once then, even while undici still waits for a connection.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  readonly #settled = Promise.withResolvers<UpstreamAnswer>();
  readonly #pool: Dispatcher;
  readonly #options: Dispatcher.DispatchOptions;
  /** Did this error come from a connection that could not be made? Nothing was sent then. */
  readonly #isFailedConnect: (error: Error) => boolean;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #isOver = false;
  #isSecondTry = false;

  constructor(pool: Dispatcher, options: Dispatcher.DispatchOptions, isFailedConnect: (error: Error) => boolean) {
    this.#pool = pool;
    this.#options = options;
    this.#isFailedConnect = isFailedConnect;
  }

  /**
   * Sends the request.
   *
   * @throws DeviceTrustError UPSTREAM_UNAVAILABLE or UPSTREAM_PROTOCOL_ERROR, or the reason of the cancellation
   */
  start(): Promise<UpstreamAnswer> {
    this.#pool.dispatch(this.#options, this);
    return this.#settled.promise;
  }

  /** Ends it now; the answer is an error with this reason. */
  cancel(reason: Error): void {
    if (this.#isOver) return;
    this.#fail(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) controller.abort(new DeviceTrustError('CANCELLED'));
    this.#controller = controller;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return; // hints on the way to the answer
    this.#status = status;
    const encodings = headers['content-encoding'];
    if (encodings === undefined || String(encodings).split(',').every(isNone)) return;
    // Not asked for, and inflating it could pass the size limit: refused unread.
    this.#failBody(COMPRESSED);
    controller.abort(COMPRESSED);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...others] = this.#chunks;
    this.#succeed(readBody(first && others.length === 0 ? first : Buffer.concat(this.#chunks)));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    if (this.#isFailedConnect(error) && !this.#isSecondTry) {
      this.#isSecondTry = true;
      this.#pool.dispatch(this.#options, this);
      return;
    }
    this.#failBody(asUpstreamError(error));
  }

  /** A status of failure has said what there is to say, whatever is wrong with the page that comes along. */
  #failBody(error: DeviceTrustError): void {
    if (this.#status >= 400) this.#succeed({ json: undefined });
    else this.#fail(error);
  }

  #succeed(body: Body): void {
    this.#isOver = true;
    this.#settled.resolve({ status: this.#status, ...body });
  }

  #fail(error: Error): void {
    this.#isOver = true;
    this.#settled.reject(error);
  }
}

const COMPRESSED = new DeviceTrustError('UPSTREAM_PROTOCOL_ERROR', {
  internal: 'compressed body, though none was asked for',
});

type Body = Pick<UpstreamAnswer, 'json' | 'mangledJson'>;

/** What is no JSON is no accident to report: whether JSON was due depends on the status, which the caller judges. */
function readBody(bytes: Buffer): Body {
  const text = decodeUtf8(bytes);
  return text === undefined ? { json: undefined, mangledJson: parseJson(bytes.toString()) } : { json: parseJson(text) };
}

/** Does this part of a `content-encoding` leave the body as it is? */
function isNone(encoding: string): boolean {
  return ['', 'identity'].includes(encoding.trim().toLowerCase());
}

/** What a peer that does not keep to HTTP, or to the size limit, ends in. */
const PROTOCOL_ERRORS = [
  errors.HTTPParserError,
  errors.HeadersOverflowError,
  errors.ResponseContentLengthMismatchError,
  errors.ResponseExceededMaxSizeError,
];

/**
 * What the system says when this process, or this machine, has no more sockets to give. Told as the upstream's failure it
 * would be a captcha outcome, and a crowd of idle connections could let everybody proceed.
 */
const OUR_OWN: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

/** Errors of undici and node:net, told apart by class and code, never by their words. */
function asUpstreamError(cause: unknown): DeviceTrustError {
  const { name, code = '' } = Object(cause);
  const internal = `${name} ${code}`.trim();
  if (OUR_OWN.has(code)) return new DeviceTrustError('OVERLOADED', { internal });
  const isProtocol = PROTOCOL_ERRORS.some((type) => cause instanceof type);
  return new DeviceTrustError(isProtocol ? 'UPSTREAM_PROTOCOL_ERROR' : 'UPSTREAM_UNAVAILABLE', { internal });
}
