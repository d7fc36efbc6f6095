import { isIP } from 'node:net';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { DeviceTrustError } from '../errors.ts';
import type { HostName, Resolver } from '../runtime/dns.ts';
import { MAX_BODY_BYTES } from './response-body.ts';
import { toLookupError } from './transport-errors.ts';

/** In ms. It is shorter than any sensible deadline, so that a connection that hangs leaves time for the second attempt. */
const CONNECT_TIMEOUT_MS = 1_500;

/**
 * How long a socket may be idle and still be used if the upstream does not say how long it keeps it, in ms. Many servers
 * close idle connections after one or two seconds, and a request that crosses the close is lost.
 */
const MAX_IDLE_MS = 500;

/**
 * How long a socket may be idle if the upstream says in `Keep-Alive` that it keeps it longer, in ms. A firewall on the way
 * may forget a connection without a word.
 */
const MAX_IDLE_WITH_HINT_MS = 10_000;

/** Errors of connections that could not be made: nothing was sent on them. */
const failedConnects = new WeakSet<Error>();

/** Was this a connection that could not be made, so that nothing was sent? */
export function isFailedConnect(error: Error): boolean {
  return failedConnects.has(error);
}

/** The sockets to one address, which are opened as they are needed. */
export class UpstreamPool {
  readonly #pool: Pool;
  /** Undefined if the origin has an IP address, which needs no look-up. */
  readonly #name: HostName | undefined;
  readonly #connect: buildConnector.connector;
  #isOpening = false;

  /**
   * @param origin scheme, host and port
   * @throws the error of undici, if this is not an origin
   */
  constructor(origin: string, resolver: Resolver) {
    this.#pool = new Pool(origin, {
      maxResponseSize: MAX_BODY_BYTES,
      allowH2: false,
      // Both are off, because they measure only the idle time between bytes. The deadline of the call covers that as well.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: MAX_IDLE_MS,
      keepAliveMaxTimeout: MAX_IDLE_WITH_HINT_MS,
      connect: (options, callback) => this.#open(options, callback),
    });
    const { hostname } = new URL(origin);
    const name = isIP(hostname.replace(/^\[|\]$/g, '')) ? undefined : resolver.nameFor(hostname);
    this.#name = name;
    this.#connect = buildConnector({
      allowH2: false,
      timeout: CONNECT_TIMEOUT_MS,
      // By then the name is looked up, so the timeout is for the upstream alone. Node tries the addresses of both families.
      lookup: (_hostname, { all }, callback) =>
        name?.resolve((error, addresses) => {
          const [first] = addresses;
          if (error || !first) callback(error, []);
          else if (all) callback(null, [...addresses]);
          else callback(null, first.address, first.family);
        }),
    });
  }

  /** Is a socket being opened at this moment? A request that starts now is the first one on it. */
  get isOpening(): boolean {
    return this.#isOpening;
  }

  /** For how long, in total, requests have waited for a look-up of this address, in ms. */
  totalLookupMs(): number {
    return this.#name?.totalWaitMs() ?? 0;
  }

  /** Sends a request, on an idle socket or on a new one. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#pool.dispatch(options, handler);
  }

  /** Closes every socket. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  #open(options: buildConnector.Options, callback: buildConnector.Callback): void {
    if (!this.#name) this.#openSocket(options, callback);
    else {
      this.#name.resolve((error) => {
        if (error) callback(toLookupError(error), null);
        else if (this.#pool.destroyed) callback(new DeviceTrustError('CANCELLED'), null);
        else this.#openSocket(options, callback);
      });
    }
  }

  #openSocket(options: buildConnector.Options, callback: buildConnector.Callback): void {
    this.#connect(options, (...[error, socket]) => {
      if (error === null) {
        // undici sends the request that needed this socket before the callback returns.
        this.#isOpening = true;
        callback(null, socket);
        this.#isOpening = false;
        return;
      }
      failedConnects.add(error);
      callback(error, null);
    });
  }
}
