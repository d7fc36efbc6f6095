import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import packageJson from '../../package.json' with { type: 'json' };
import { DeviceTrustError, type ErrorCode } from '../errors.ts';
import { parseAnswer } from '../runtime/json.ts';
import { isUpstreamFailure, toUpstreamError } from './transport-errors.ts';

/** A configured account of an upstream service, prepared for calls. Each has a quota, pauses and a health of its own. */
export interface Account {
  /** Its public id, which is no secret. */
  readonly id: string;
  /** Each region has a bulkhead of its own, because it can fail alone. Undefined if the service has no regions. */
  readonly region?: string | undefined;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  /** May hold a secret. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sent with calls and probes. Without `Accept-Encoding` a service may choose any coding (RFC 9110, 12.5.3). */
export const CLIENT_HEADERS = {
  'user-agent': `${packageJson.name}/${packageJson.version}`,
  'accept-encoding': 'identity',
};

/** The response of an upstream, not yet compared with its contract. */
export interface UpstreamResponse {
  readonly status: number;
  /** The parsed body; undefined if it is not JSON in UTF-8, or nests too deep. */
  readonly json: unknown;
  /** Why the body of a 200 could not be read; undefined if it is JSON. It may be any answer, so assume the worst one. */
  readonly unreadable?: string | undefined;
  /** How long the service asks us to wait with a 429, in ms and within our bounds. */
  readonly retryAfterMs?: number | undefined;
}

/** The shortest and the longest wait after a 429, in ms. The shortest one also applies without a usable `Retry-After`. */
const [MIN_RETRY_AFTER_MS, MAX_RETRY_AFTER_MS] = [1_000, 60_000];

/** The longest body that is read, in bytes. No documented response is nearly as long. */
export const MAX_BODY_BYTES = 256 * 1024;
/** Bodies up to this length, in bytes, always fit. A response with every documented signal has half of it. */
const USUAL_BYTES = 8_192;
/** After this many chunks, the chunks are joined: each takes some 110 bytes of heap, and HTTP allows chunks of one byte. */
const MAX_CHUNKS = 1_024;

/** The responses to one operation share these bytes, beyond the usual length of each. */
export interface ResponseBytes {
  responseBytesLeft: number;
}

/** What sends requests to one origin. */
export interface Carrier {
  /** Returns a function that ends the connection after this request. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): () => void;
  /** Resolves when a request that got no connection can be sent again. */
  prepareRetry(): Promise<void>;
}

/** One request and its whole response. It handles the dispatch itself, which takes less CPU than undici's `request`. */
export class PendingRequest implements Dispatcher.DispatchHandler {
  readonly #settled = Promise.withResolvers<UpstreamResponse>();
  /** Rejects with an UPSTREAM code, with OVERLOADED for a limit of this machine, or with the reason of the abort. */
  readonly response = this.#settled.promise;
  /** Keeps its connection from further requests. Blames no address: a client can provoke an answer. */
  endConnection = () => {};
  readonly #chunks: Buffer[] = [];
  readonly #carrier: Carrier;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #shared: ResponseBytes;
  /** Is its socket being opened? That goes on when the request is aborted. */
  #isOpening = true;
  #opened = () => {};
  /** Undefined until the request has a socket. */
  #controller: Dispatcher.DispatchController | undefined;
  #isSecondAttempt = false;
  /** Has a byte of the final response arrived? */
  #hasBegun = false;
  /** 0 until the head of the final response has arrived. */
  #status = 0;
  #progress = 0;
  #bytes = 0;
  /** The reason not to read the body; undefined if it is read. */
  #coding: string | undefined;
  #retryAfterMs: number | undefined;
  #isOver = false;

  constructor(carrier: Carrier, options: Dispatcher.DispatchOptions, signal: AbortSignal, shared?: ResponseBytes) {
    this.#carrier = carrier;
    this.#options = options;
    // A probe is alone.
    this.#shared = shared ?? { responseBytesLeft: MAX_BODY_BYTES };
    this.#send();
    signal.addEventListener('abort', () => this.#abort(signal.reason));
  }

  #send(): void {
    if (this.#isOver) this.#endOpening();
    else this.endConnection = this.#carrier.dispatch(this.#options, this);
  }

  /** The number of events on the socket so far. */
  get progress(): number {
    return this.#progress;
  }

  /** Calls `act` once no socket is being opened for this request. */
  whenOpened(act: () => void): void {
    if (this.#isOpening) this.#opened = act;
    else act();
  }

  /** Rejects `response` with this reason and closes the socket, unless the request is over. */
  #abort(reason: Error): void {
    if (this.#isOver) return;
    if (isUpstreamFailure(reason)) this.endConnection();
    this.#reject(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) controller.abort(new DeviceTrustError('CANCELLED'));
    this.#controller = controller;
    this.#progress += 1;
    this.#endOpening();
  }

  onResponseStarted(): void {
    this.#progress += 1;
    this.#hasBegun = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#progress += 1;
    // After an interim response, the final one is still to come.
    this.#hasBegun = status >= 200;
    if (!this.#hasBegun) return;
    this.#status = status;
    if (status === 429) this.#retryAfterMs = retryAfterMs(headers['retry-after']);
    const codings = headers['content-encoding'];
    if (codings !== undefined) this.#coding = describeCoding(String(codings));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#progress += 1;
    if (this.#chunks.push(chunk) === MAX_CHUNKS) this.#chunks.splice(0, MAX_CHUNKS, Buffer.concat(this.#chunks));
    this.#bytes += chunk.length;
    this.#giveUpIfTooLarge();
  }

  onResponseEnd(): void {
    this.#giveUpIfTooLarge();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#shared.responseBytesLeft -= this.#charge;
    const [first, ...others] = this.#chunks;
    const bytes = first && others.length === 0 ? first : Buffer.concat(this.#chunks);
    const [status, retryAfterMs] = [this.#status, this.#retryAfterMs];
    const json = this.#coding ? undefined : parseAnswer(bytes);
    const isUnreadable = status === 200 && json === undefined;
    const unreadable = isUnreadable ? (this.#coding ?? 'a body that is not JSON in UTF-8 as a whole') : undefined;
    this.#settled.resolve({ status, json, unreadable, retryAfterMs });
  }

  get #charge(): number {
    return Math.max(0, this.#bytes - USUAL_BYTES);
  }

  /** Gives up a response that no longer fits. Only complete ones are charged, so this one takes nothing from its neighbours. */
  #giveUpIfTooLarge(): void {
    if (this.#charge <= this.#shared.responseBytesLeft) return;
    this.#chunks.length = 0;
    const message = 'The service returned too much data for this request. Request less at once.';
    const internal = 'the responses to one request are too large together';
    this.#abort(new DeviceTrustError('OVERLOADED', { message, internal, side: 'upstream', retryable: false }));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // Without a socket nothing was sent, so the request can be sent again.
    if (this.#isOpening && !this.#isOver && !this.#isSecondAttempt) {
      this.#isSecondAttempt = true;
      return void this.#carrier.prepareRetry().then(() => this.#send());
    }
    this.#endOpening();
    if (!this.#isOver) this.#reject(toUpstreamError(error));
  }

  #endOpening(): void {
    if (!this.#isOpening) return;
    this.#isOpening = false;
    this.#opened();
  }

  /** A reset can discard what has arrived, so only a time-out shows that nothing of the body came. */
  #whyIncomplete(code: ErrorCode) {
    const isLate = code === 'UPSTREAM_TIMEOUT';
    if (this.#status === 200) return isLate && this.#bytes === 0 ? 'bodiless' : 'unreadable';
    return isLate ? undefined : 'incomplete';
  }

  #reject(error: Error): void {
    const isFailure = isUpstreamFailure(error);
    // A status other than 200 is an answer by itself, even if its body is broken; nobody reads it as a pass.
    if (isFailure && this.#status > 0 && this.#status !== 200) return void this.onResponseEnd();
    this.#isOver = true;
    if (!isFailure || !this.#hasBegun) return void this.#settled.reject(error);
    const { code, internal } = error;
    this.#settled.reject(new DeviceTrustError(code, { internal, why: this.#whyIncomplete(code) }));
  }
}

/** Describes the coding of a body; undefined without one. Requests accept only `identity`. */
function describeCoding(codings: string): string | undefined {
  const coding = codings.split(/[\s,]+/).find((word) => !/^(identity)?$/i.test(word));
  if (coding === undefined) return undefined;
  const named = /^[\w-]{1,20}$/.test(coding) ? `the content encoding "${coding}"` : 'a content encoding';
  return `a body with ${named}, which the request does not accept`;
}

/** The pause for a `Retry-After`, in seconds or a date (RFC 9110, 10.2.3), in ms. A repeated header is unusable. */
export function retryAfterMs(header: unknown): number {
  const text = typeof header === 'string' ? header.trim() : '';
  // `Date.parse` gives NaN for any other text.
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Math.min(Math.max(ms || 0, MIN_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS);
}
