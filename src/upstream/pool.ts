import { isIP, type Socket } from 'node:net';
import { buildConnector, errors, Pool } from 'undici';
import type { DnsCache } from '../runtime/dns.ts';
import { tlsOptionsFor } from '../runtime/http.ts';
import { type Account, type Budget, MAX_BODY_BYTES, PendingRequest } from './transport.ts';
import { toLookupError } from './transport-errors.ts';

/** The most bytes that a socket may receive for one call, with heads, interim responses and chunk framing. */
const MAX_RAW_BYTES = MAX_BODY_BYTES + 64 * 1024;
/** In ms. It is shorter than any sensible deadline, so that a connection that hangs leaves time for the second attempt. */
const CONNECT_TIMEOUT_MS = 1_500;

/** How long a socket may be idle, in ms: many servers close it after a second or two, and a request that crosses the close is lost. */
const MAX_IDLE_MS = 500;
/** The longest idle time that an upstream can ask for in `Keep-Alive`: a firewall on the way may drop the socket silently. */
const MAX_IDLE_WITH_HINT_MS = 10_000;

export type UpstreamPool = ReturnType<typeof openPool>;

/** The sockets to one address, opened on demand. @throws the error of undici, if `origin` is not scheme, host and port */
export function openPool(origin: string, dns: DnsCache, connectTimeoutMs = CONNECT_TIMEOUT_MS) {
  const { hostname } = new URL(origin);
  // An IP address needs no look-up.
  const name = isIP(hostname.replace(/^\[|\]$/g, '')) ? undefined : dns.nameFor(hostname);
  const connect = buildConnector({
    ...tlsOptionsFor(hostname),
    allowH2: false,
    timeout: connectTimeoutMs,
    // Node then asks `lookup` for all addresses, and tries both families.
    autoSelectFamily: true,
    // Before a request is sent, `lookUp` has found them.
    lookup: (_hostname, _options, callback) => callback(null, [...(name?.addresses ?? [])]),
  });
  const pool = new Pool(origin, {
    maxResponseSize: MAX_BODY_BYTES,
    allowH2: false,
    // Both are off, because they limit only the idle time between bytes, which the deadline of the call covers.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: MAX_IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_WITH_HINT_MS,
    connect: (options, callback) =>
      connect(options, (...given) => {
        const [error, socket] = given;
        if (!error) guardReads(socket);
        callback(...given);
      }),
  });
  return {
    /** Looks up the host, for at most 1.5 s; undefined if its addresses are known. Rejects with an UPSTREAM code or OVERLOADED. */
    lookUp: (): Promise<void> | undefined =>
      name?.lookUp()?.catch((error: Error) => Promise.reject(toLookupError(error))),
    /** Sends a request. `signal` ends it at once with its reason, even while undici still waits for a connection. */
    post: ({ path, headers }: Account, body: string, signal: AbortSignal, budget?: Budget) =>
      new PendingRequest(pool, { method: 'POST', path, headers, body }, signal, budget),
    close: () => pool.destroy(),
  };
}

/**
 * Closes a socket that receives more than `MAX_RAW_BYTES` for one call, because undici bounds only the body. And undici skips a 102,
 * but takes a `100 Continue` for an error, which some versions of IIS send unasked (RFC 9110, 15.2): it becomes a 102 here.
 */
function guardReads(socket: Socket): void {
  const read = socket.read.bind(socket);
  // Safe: the arguments are passed on unchanged.
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  let bytesOfCall = 0;
  // A write starts a new call.
  socket.write = (...given: unknown[]) => {
    bytesOfCall = 0;
    return write(...given);
  };
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read(size);
    if (chunk === null) return null;
    if (bytesOfCall === 0 && chunk.toString('latin1', 0, 12) === 'HTTP/1.1 100') chunk.write('2', 11);
    bytesOfCall += chunk.length;
    if (bytesOfCall <= MAX_RAW_BYTES) return chunk;
    socket.destroy(new errors.ResponseExceededMaxSizeError());
    return null;
  };
}
