import { buildConnector, Pool } from 'undici';
import { DeviceTrustError } from '../errors.ts';
import { type Caller, type StartedCall, startCall } from './caller.ts';
import { Exchange, type UpstreamAnswer } from './exchange.ts';
import type { Guard } from './guard.ts';
import { watchStalls } from './stalls.ts';

/** No documented answer comes near this many bytes. */
const MAX_BODY_BYTES = 256 * 1024;

/** In ms. Shorter than any sensible deadline, so that a connection that hangs leaves time for the second try. */
const CONNECT_TIMEOUT_MS = 1_500;

/** A quarter of a deadline, and at least this many ms: whoever was busy for longer cannot say that a service was late. */
const MIN_STALL_MS = 250;

/** One POST to an upstream. */
interface UpstreamRequest {
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

/** The process's way to one upstream service: a bounded pool of sockets. */
export interface UpstreamHttp {
  /**
   * Sends one request and reads the whole answer within the deadline. It is sent at most once: a second one would be a
   * new event upstream. Only a connection that could not be made, so that no byte was sent, is tried again, once.
   *
   * @throws DeviceTrustError UPSTREAM_TIMEOUT, UPSTREAM_UNAVAILABLE or UPSTREAM_PROTOCOL_ERROR; OVERLOADED if too many
   *   calls are under way, at once or when the deadline passes for one that had to wait
   * @throws the reason of the caller's cancellation, once that has happened
   */
  post(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Closes every socket. */
  close(): Promise<void>;
}

/** What an upstream service is to its HTTP. */
interface UpstreamOptions {
  /** Its name, for traces. */
  readonly service: string;
  /** The guard of a region, always the same one. */
  readonly guardFor: (region: string) => Guard<UpstreamAnswer>;
  /** Told of each call that was made how it ended (`ok`, `http_4xx`, `http_5xx` or a code of `errors.ts`), after how long. */
  readonly onCall: (region: string, outcome: string, ms: number) => void;
}

/** A client of one upstream service. Opens no socket before the first request. */
export function createUpstreamHttp({ service, guardFor, onCall }: UpstreamOptions): UpstreamHttp {
  const failedConnects = new WeakSet<Error>();
  const isFailedConnect = (error: Error) => failedConnects.has(error);
  const connect = buildConnector({ allowH2: false, timeout: CONNECT_TIMEOUT_MS });
  const pools = new Map<string, Pool>();
  const stalls = watchStalls();

  function poolOf(origin: string): Pool {
    const known = pools.get(origin);
    if (known) return known;
    const pool = new Pool(origin, {
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
    pools.set(origin, pool);
    return pool;
  }

  async function post(request: UpstreamRequest): Promise<UpstreamAnswer> {
    const { caller, region } = request;
    if (caller.cancellation.reason) throw caller.cancellation.reason;
    // Stays empty if the guard never lets it through: then nothing was asked of the upstream, and there is nothing to tell.
    const sent: { call?: StartedCall } = {};
    let outcome = 'CANCELLED';
    try {
      const answer = await sendInTime(request, (call) => {
        sent.call = call;
      });
      outcome = outcomeOf(answer);
      return answer;
    } catch (error) {
      if (error instanceof DeviceTrustError) outcome = error.code;
      throw error;
    } finally {
      if (sent.call) onCall(region, outcome, sent.call.end(outcome));
    }
  }

  /** Sends the request as soon as the guard lets it, and waits until it is answered, late, or no longer wanted. */
  function sendInTime(
    { region, origin, path, headers, body, timeoutMs, caller }: UpstreamRequest,
    onSent: (call: StartedCall) => void,
  ) {
    return new Promise<UpstreamAnswer>((resolve, reject) => {
      let exchange: Exchange | undefined;
      let isProbe = false;
      let over: Error | undefined;
      const guarded = guardFor(region).run((probe) => {
        if (over) throw over;
        isProbe = probe;
        const call = startCall(caller, service, region);
        onSent(call);
        const options = {
          path,
          method: 'POST' as const,
          headers: call.headers ? { ...headers, ...call.headers } : headers,
          body,
        };
        exchange = new Exchange(poolOf(origin), options, isFailedConnect);
        return exchange.start();
      });
      const giveUp = (reason: Error) => {
        over = reason;
        exchange?.cancel(reason);
        // Here as well, because the exchange may still wait for its turn.
        reject(reason);
      };
      // A bot that could end probes by hanging up could keep the breaker open.
      const hangUp = (reason: Error) => (isProbe ? reject(reason) : giveUp(reason));
      // A call that finds room begins at once. One that had to wait for it is late by our own limit, and so is one during
      // which the process was busy with something else for long: told as a fault of the service it would be an outcome, and
      // load could be turned into a captcha that proceeds.
      const hasBegun = exchange !== undefined;
      const stalledBefore = stalls.totalMs();
      const isOurs = () => !hasBegun || stalls.totalMs() - stalledBefore > Math.max(timeoutMs / 4, MIN_STALL_MS);
      const timer = setTimeout(() => {
        // What has arrived while the process was busy is read first.
        setImmediate(() => {
          const code = isOurs() ? 'OVERLOADED' : 'UPSTREAM_TIMEOUT';
          giveUp(new DeviceTrustError(code, { internal: `no answer within ${timeoutMs} ms` }));
        });
      }, timeoutMs);
      const settled = () => {
        clearTimeout(timer);
        caller.cancellation.remove(hangUp);
      };
      caller.cancellation.add(hangUp);
      guarded.then(
        (answer) => {
          settled();
          resolve(answer);
        },
        (error) => {
          settled();
          reject(error);
        },
      );
    });
  }

  async function close(): Promise<void> {
    stalls.stop();
    await Promise.all([...pools.values()].map((pool) => pool.destroy()));
  }

  return { post, close };
}

function outcomeOf({ status }: UpstreamAnswer): string {
  if (status < 400) return 'ok';
  return status < 500 ? 'http_4xx' : 'http_5xx';
}
