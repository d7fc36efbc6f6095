import { buildConnector, Pool } from 'undici';
import { watchStalls } from '../runtime/event-loop.ts';
import { Call, type Upstream, type UpstreamRequest } from './call.ts';
import type { UpstreamAnswer } from './transport.ts';

/** No documented answer comes near this many bytes. */
const MAX_BODY_BYTES = 256 * 1024;

/** In ms. Shorter than any sensible deadline, so that a connection that hangs leaves time for the second try. */
const CONNECT_TIMEOUT_MS = 1_500;

/** The process's way to one upstream service: a pool of sockets for each address. The guards bound how many are in use. */
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
type UpstreamOptions = Pick<Upstream, 'service' | 'guardFor' | 'onCall'>;

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

  const upstream: Upstream = { service, guardFor, onCall, poolOf, isFailedConnect, stalls };

  function post(request: UpstreamRequest): Promise<UpstreamAnswer> {
    const { reason } = request.caller.cancellation;
    if (reason) return Promise.reject(reason);
    return new Promise((resolve, reject) => new Call(request, upstream, resolve, reject));
  }

  async function close(): Promise<void> {
    stalls.stop();
    await Promise.all([...pools.values()].map((pool) => pool.destroy()));
  }

  return { post, close };
}
