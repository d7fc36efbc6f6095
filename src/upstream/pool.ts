import { isIP, type Socket } from 'node:net';
import { buildConnector, Client, errors } from 'undici';
import type { DnsCache } from '../runtime/dns.ts';
import { tlsOptionsFor } from '../runtime/http.ts';
import { type Account, type Carrier, MAX_BODY_BYTES, PendingRequest, type ResponseBytes } from './transport.ts';
import { toLookupError } from './transport-errors.ts';
import { createWitness, idleMsAfter, type WitnessProbe } from './witness.ts';

/** The most bytes that a socket may receive for one call, with heads, interim responses and chunk framing. */
const MAX_RAW_BYTES = MAX_BODY_BYTES + 64 * 1024;
/** The longest attempt to open a connection, in ms. A request has two within its deadline. */
const MAX_CONNECT_MS = 1_500;
/** Longer than any connection is idle before a call, in ms, so that undici's own timer ends none that was just taken. */
const MAX_IDLE_MS = 50_000;
/** The age of a connection, in ms; less by up to a third, so that not all end at once. */
const MAX_AGE_MS = 5 * 60_000;

interface PoolOptions {
  /** The deadline of its requests, in ms. */
  readonly timeoutMs?: number;
  /** Each begins at another address. */
  readonly turn?: number;
  /** Shows how long idle connections are kept. Without it they serve calls for half a second. */
  readonly probe?: WitnessProbe | undefined;
}

interface Connection {
  /** undici's client of this connection alone, so that it can end after its call. */
  readonly client: Client;
  /** On the clock of `performance.now()`, as all times here. */
  readonly endsAt: number;
  /** Undefined while it serves a call. */
  idleSince?: number | undefined;
  /** Undefined until it is open. */
  address?: string | undefined;
}

export type UpstreamPool = ReturnType<typeof openPool>;

/** The connections to one origin, opened on demand. @throws the error of undici, if `origin` is not scheme, host and port */
export function openPool(origin: string, dns: DnsCache, options: PoolOptions = {}) {
  const { timeoutMs = 2 * MAX_CONNECT_MS, turn = 0, probe } = options;
  const { hostname } = new URL(origin);
  // An IP address needs no look-up.
  const name = isIP(hostname.replace(/^\[|\]$/g, '')) ? undefined : dns.nameFor(hostname);
  const connectMs = Math.ceil(Math.min(MAX_CONNECT_MS, timeoutMs / 2));
  const connect = buildConnector({
    ...tlsOptionsFor(hostname),
    allowH2: false,
    timeout: connectMs,
    // Node then asks `lookup` for all addresses, and tries both families.
    autoSelectFamily: true,
    // Node's default is too short for a distant service.
    autoSelectFamilyAttemptTimeout: Math.ceil(connectMs / 2),
    // Before a request is sent, `lookUp` has found them.
    lookup: (_hostname, _options, callback) => callback(null, name?.inOrder(turn) ?? []),
  });
  const clients = new Set<Client>();
  /** The last one serves the next call, so that the others age. */
  const idle: Connection[] = [];
  let isClosed = false;
  /** The address to which the last connection leads, or would have led. */
  let lastAddress: string | undefined;
  const witness = probe && createWitness(probe, (keeping) => open(keeping).client);
  const idleMs = () => witness?.idleMs ?? idleMsAfter(0);

  /** A connection that opens with its first request. */
  function open(keeping: Client.Options): Connection {
    const client = new Client(origin, {
      maxResponseSize: MAX_BODY_BYTES,
      allowH2: false,
      // Both are off, because they limit only the idle time between bytes, which the deadline of the call covers.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) => {
        const [first] = name?.inOrder(turn) ?? [];
        // Safe: undici returns the socket, although its type does not say so.
        const attempt = connect(target, (...given) => {
          const [error, socket] = given;
          if (!error) guardReads(socket);
          connection.address = socket?.remoteAddress;
          lastAddress = connection.address ?? first?.address;
          // Each as `address:port`; undefined if there was one address.
          const tried = attempt?.autoSelectFamilyAttemptedAddresses?.map((each) => each.replace(/:\d+$/, ''));
          for (const address of tried ?? (first ? [first.address] : []))
            if (address !== connection.address) name?.recordFailure(address);
          callback(...given);
        }) as Socket | undefined;
      },
      ...keeping,
    });
    const connection: Connection = { client, endsAt: performance.now() + MAX_AGE_MS * (1 - Math.random() / 3) };
    clients.add(client);
    client.on('connectionError', () => end(client));
    client.on('disconnect', (_origin, _targets, { code }) => {
      const { idleSince } = connection;
      // UND_ERR_INFO: undici has ended it.
      if (idleSince !== undefined && !client.closed && code !== 'UND_ERR_INFO')
        witness?.recordEnd(performance.now() - idleSince);
      end(client);
    });
    if (isClosed) void client.destroy();
    return connection;
  }

  /** Ends a connection, after its call if it serves one. */
  function end(client: Client): void {
    const at = idle.findIndex((each) => each.client === client);
    if (at >= 0) idle.splice(at, 1);
    // It stays known until its call has ended.
    if (!client.closed && !client.destroyed) void client.close().finally(() => clients.delete(client));
    else if (client.destroyed) clients.delete(client);
  }

  /** Does the name still lead to this address, and has it not failed since then? */
  const isUsable = (address: string | undefined, since: number) =>
    !name || (name.has(address) && !name.hasFailedSince(address ?? '', since));

  /** The connection for the next call. */
  function take(): Connection {
    const now = performance.now();
    for (let known = idle.pop(); known; known = idle.pop()) {
      const { endsAt, idleSince = 0, address } = known;
      known.idleSince = undefined;
      if (now < endsAt && now - idleSince < idleMs() && isUsable(address, idleSince)) return known;
      end(known.client);
    }
    // Later proofs count for this connection, too. A Keep-Alive header can shorten the time.
    const connection = open({ keepAliveTimeout: MAX_IDLE_MS, keepAliveMaxTimeout: MAX_IDLE_MS });
    const { client } = connection;
    client.on('drain', () => {
      if (client.closed || connection.idleSince !== undefined) return;
      connection.idleSince = performance.now();
      idle.push(connection);
    });
    return connection;
  }

  const carrier: Carrier = {
    dispatch: (request, handler) => {
      witness?.recordCall();
      const connection = take();
      connection.client.dispatch(request, handler);
      return () => end(connection.client);
    },
    prepareRetry: async () => name?.refresh(),
  };
  return {
    /** Looks up the host, for at most 1.5 s; undefined if its addresses are known. Rejects with an UPSTREAM code or OVERLOADED. */
    lookUp: (): Promise<void> | undefined =>
      name?.lookUp()?.catch((error: Error) => Promise.reject(toLookupError(error))),
    /** Sends a request. `signal` ends it at once with its reason, even while undici still waits for a connection. */
    post: ({ path, headers }: Account, body: string, signal: AbortSignal, shared?: ResponseBytes) =>
      new PendingRequest(carrier, { method: 'POST', path, headers, body }, signal, shared),
    /** After a probe with an unusual answer: its address is the last one to try for a minute. */
    demote: (): void => {
      if (name && lastAddress !== undefined) name.recordOddity(lastAddress);
    },
    /**
     * After a probe that failed: its address is the last one to try for a minute. Asks the name again. Resolves with whether the service
     * is at fault: the name still leads there, and no other address may work.
     */
    blame: async (): Promise<boolean> => {
      if (!name || lastAddress === undefined) return true;
      name.recordFailure(lastAddress);
      await name.refresh();
      return name.has(lastAddress) && !name.hasGoodOne();
    },
    close: async (): Promise<void> => {
      isClosed = true;
      await Promise.all([...clients].map((client) => client.destroy()));
    },
  };
}

/**
 * Closes a socket that receives more than `MAX_RAW_BYTES` for one call, because undici bounds only heads and bodies.
 * And turns a `100 Continue`, which some versions of IIS send unasked (RFC 9110, 15.2), into a 102: undici skips that, and fails on a 100.
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
