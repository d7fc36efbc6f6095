import { parse } from 'secure-json-parse';
import { Agent, buildConnector, type Dispatcher, errors } from 'undici';
import { DeviceTrustError } from '../errors.ts';
import { type Caller, type StartedCall, startCall } from './caller.ts';
import type { Guard } from './guard.ts';

/** No documented answer comes near this many bytes. */
const MAX_BODY_BYTES = 256 * 1024;

/** In ms. Shorter than any sensible deadline, so that a connection that hangs leaves time for the second try. */
const CONNECT_TIMEOUT_MS = 1_500;

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

/** What came back, before anyone asked whether it is as documented. */
export interface UpstreamAnswer {
  readonly status: number;
  /** The parsed body, free of `__proto__` and its like; undefined if it is not JSON in UTF-8. */
  readonly json: unknown;
}

/** The process's way to one upstream service: a bounded pool of sockets. */
export interface UpstreamHttp {
  /**
   * Sends one request and reads the whole answer within the deadline. It is sent at most once: a second one would be a
   * new event upstream. Only a connection that could not be made, so that no byte was sent, is tried again, once.
   *
   * @throws DeviceTrustError UPSTREAM_TIMEOUT, UPSTREAM_UNAVAILABLE or UPSTREAM_PROTOCOL_ERROR, or OVERLOADED, unsent,
   *   if too many calls are under way
   * @throws the signal's reason, once it is aborted
   */
  post(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Closes every socket. */
  close(): Promise<void>;
}

/** What an upstream service is to its HTTP. */
export interface UpstreamOptions {
  /** Its name, for traces. */
  readonly service: string;
  /** The guard of a region, always the same one. */
  readonly guardFor: (region: string) => Guard<UpstreamAnswer>;
  /** Told of each call that was made how it ended (`ok`, `http_4xx`, `http_5xx` or a code of `errors.ts`), after how long. */
  readonly onCall: (region: string, outcome: string, ms: number) => void;
}

/** Opens nothing yet: sockets are made when the first request needs one. */
export function createUpstreamHttp({ service, guardFor, onCall }: UpstreamOptions): UpstreamHttp {
  const failedConnects = new WeakSet<Error>();
  const connect = buildConnector({ allowH2: false, timeout: CONNECT_TIMEOUT_MS });
  const agent = new Agent({
    maxResponseSize: MAX_BODY_BYTES,
    allowH2: false,
    // The one deadline of post() covers both; these two only measure idle time between bytes.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error === null) return callback(null, socket);
        failedConnects.add(error);
        callback(error, null);
      }),
  });

  async function post(request: UpstreamRequest): Promise<UpstreamAnswer> {
    const { region, timeoutMs, caller } = request;
    const { signal } = caller;
    signal.throwIfAborted();
    const over = new AbortController();
    const onAbort = () => over.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => {
      over.abort(new DeviceTrustError('UPSTREAM_TIMEOUT', { internal: `no answer within ${timeoutMs} ms` }));
    }, timeoutMs);
    const made: StartedCall[] = [];
    const call = () => {
      const started = startCall(caller, service, region);
      made.push(started);
      return attempt({ ...request, headers: { ...request.headers, ...started.headers } }, over.signal);
    };
    let outcome = 'CANCELLED';
    try {
      // Raced, because undici heeds a signal only once the request has a connection.
      const answer = await Promise.race([guardFor(region).run(call, over.signal), rejectionOn(over.signal)]);
      outcome = outcomeOf(answer);
      return answer;
    } catch (error) {
      const reason = over.signal.aborted ? over.signal.reason : error;
      if (reason instanceof DeviceTrustError) outcome = reason.code;
      throw reason;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      // None, if the guard never let it through: then nothing was asked of the upstream, and nothing is to be told of it.
      for (const started of made) onCall(region, outcome, started.end(outcome));
    }
  }

  async function attempt(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    try {
      return await exchange(request, signal).catch((error) => {
        const nothingSent = error instanceof Error && failedConnects.has(error);
        if (!nothingSent || signal.aborted) throw error;
        return exchange(request, signal);
      });
    } catch (error) {
      signal.throwIfAborted();
      throw asUpstreamError(error);
    }
  }

  async function exchange({ origin, path, headers, body }: UpstreamRequest, signal: AbortSignal) {
    const response = await agent.request({ origin, path, method: 'POST', headers, body, signal });
    const { statusCode: status } = response;
    try {
      return { status, json: parseJson(await readBody(response)) };
    } catch (error) {
      // A status of failure has said what there is to say, whatever is wrong with the page that comes along.
      if (status < 400 || signal.aborted) throw error;
      return { status, json: undefined };
    }
  }

  return { post, close: () => agent.destroy() };
}

function outcomeOf({ status }: UpstreamAnswer): string {
  if (status < 400) return 'ok';
  return status < 500 ? 'http_4xx' : 'http_5xx';
}

function rejectionOn(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** A compressed body was not asked for, and inflating one could pass the size limit; it is refused unread. */
async function readBody({ headers, body }: Dispatcher.ResponseData): Promise<ArrayBuffer> {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || String(encoding).toLowerCase() === 'identity') return body.arrayBuffer();
  body.on('error', () => {}).destroy();
  throw new DeviceTrustError('UPSTREAM_PROTOCOL_ERROR', { internal: 'compressed body, though none was asked for' });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: ArrayBuffer): unknown {
  try {
    return parse(utf8.decode(bytes), null, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    // Not an accident to report: whether JSON was due depends on the status, which the caller judges.
    return undefined;
  }
}

/** What a peer that does not keep to HTTP, or to the size limit, ends in. */
const PROTOCOL_ERRORS = [
  errors.HTTPParserError,
  errors.HeadersOverflowError,
  errors.ResponseContentLengthMismatchError,
  errors.ResponseExceededMaxSizeError,
];

/** Errors of undici and node:net, told apart by class, never by their words. */
function asUpstreamError(cause: unknown): DeviceTrustError {
  if (cause instanceof DeviceTrustError) return cause;
  const code = PROTOCOL_ERRORS.some((type) => cause instanceof type)
    ? 'UPSTREAM_PROTOCOL_ERROR'
    : 'UPSTREAM_UNAVAILABLE';
  const { name, code: detail = '' } = Object(cause);
  return new DeviceTrustError(code, { internal: `${name} ${detail}`.trim() });
}
