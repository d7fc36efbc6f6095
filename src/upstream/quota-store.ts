import { once } from 'node:events';
import type { Logger } from 'pino';
import { tlsOptionsFor } from '../runtime/http.ts';
import { propertiesOf } from '../runtime/json.ts';
import type { EventLoop } from './deadline.ts';
import type { UpstreamMetrics } from './metrics.ts';

/** How long a call waits for its count, and the maximum if this process itself is late, in ms. */
const [COUNT_TIMEOUT_MS, MAX_COUNT_TIMEOUT_MS] = [50, 500];
/** The least lag of this process that excuses a late answer of the store, in ms. */
const MIN_LAG_MS = 5;
/** How often a store that is away is probed, and how long the start waits for the connection, in ms. */
const PROBE_INTERVAL_MS = 1_000;
/** The time between two attempts to connect, in ms. */
const RETRY_AFTER_MS = 500;
const DISCONNECTED = 'no connection';
/** The key of the probe that shows whether a new connection can be used to count. */
const PROBE_KEY = 'device-trust:probe';
/**
 * Adds to the count of the current minute, and answers with the highest count of a minute in the hour before the last addition. A minute
 * begins with the first addition after the previous minute. An addition of 0, as in an outage, removes no minute.
 */
const COUNT_BUSIEST = `
  local now, isNew, most = tonumber(redis.call('time')[1]), ARGV[1] ~= '0', 0
  local start, minutes = now, redis.call('hgetall', KEYS[1])
  for n = 1, #minutes, 2 do
    local at, count = tonumber(minutes[n]), tonumber(minutes[n + 1])
    if math.abs(now - at) < 60 then start = at end
    if isNew and now - at >= 3600 then redis.call('hdel', KEYS[1], at) else most = math.max(most, count) end
  end
  if isNew then most = math.max(most, redis.call('hincrby', KEYS[1], start, ARGV[1])) end
  redis.call('expire', KEYS[1], 3600)
  return most`;

/** The window of a count: in s, or the busiest minute of the last hour. */
type Window = number | 'busiest minute';
/** Receives the calls counted in the window, and the ms until the window ends (0 for the busiest minute). */
type OnCount<Result> = (calls: number, msLeft: number) => Result;
/** Adds calls to the count of a key, and gives the parameters of `OnCount`. */
type Add = (key: string, calls: number) => Promise<readonly [calls: number, msLeft: number]>;

export type QuotaStore = Awaited<ReturnType<typeof openQuotaStore>>;

interface Options {
  readonly log: Logger;
  readonly metrics: Pick<UpstreamMetrics, 'recordQuotaStore'>;
  readonly eventLoop: EventLoop;
}

/**
 * Connects to the Valkey or Redis in which all replicas count. The store is away from the first failed count until every key
 * that failed can be counted again. An open connection proves nothing: a store can refuse every count, and a node of a cluster
 * refuses some. So a probe counts 0 calls with the key that failed. An unavailable store does not reject the promise.
 */
export async function openQuotaStore(url: string, { log, metrics, eventLoop }: Options) {
  const [{ Redis }, limiters] = await Promise.all([import('ioredis'), import('rate-limiter-flexible')]);
  const { protocol, hostname, pathname } = new URL(url);
  const redis = new Redis(url, {
    ...(protocol === 'rediss:' && { tls: tlsOptionsFor(hostname) }),
    // A count that waits for a connection, or is sent again after a disconnect, comes too late for its call.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => RETRY_AFTER_MS,
    // The probe shows whether the store is ready.
    enableReadyCheck: false,
    // Every Valkey and Redis speaks RESP2.
    protocol: 2,
    disableClientInfo: true,
  });
  let connectionError = DISCONNECTED;
  const isFirstDatabase = /^\/?0*$/.test(pathname);
  /** Is the database of this connection selected? If ioredis cannot select it, it goes on in another database. */
  let isSelected = isFirstDatabase;
  let isSelectRefused = false;
  const waitUntilSelected = async () => {
    // ioredis has already sent SELECT, so the answer to it arrives before the answer to PING.
    await redis.ping();
    if (isSelectRefused) throw Object.assign(new Error('no database'), { code: 'NO_SUCH_DATABASE' });
    isSelected = true;
  };
  redis.on('error', (error) => {
    connectionError = causeOf(error) ?? error.name;
    if (propertiesOf(propertiesOf(error)['command'])['name'] === 'select') isSelectRefused = true;
  });

  let isClosed = false;
  /** Has the store answered a count since the last round of probes? */
  let hasAnswered = true;
  let timer: NodeJS.Timeout | undefined;
  /** A probe for each key whose last count failed. While there are any, the store is away. */
  const probes = new Map<string, () => Promise<unknown>>();
  /** The causes of this absence in the log: the first cause, and each refusal, because it may follow a lost connection. */
  const named = new Set<string>();
  const recordFailure = (key: string, probe: () => Promise<unknown>, cause: string, isRefusal = false) => {
    const isNamed = probes.size > 0 && (!isRefusal || named.has(cause));
    probes.set(key, probe);
    timer ??= setInterval(() => setImmediate(probeAll), PROBE_INTERVAL_MS).unref();
    if (isNamed) return;
    named.add(cause);
    metrics.recordQuotaStore(true);
    log.warn({ internal: cause }, 'quota store unavailable; counting per process');
  };
  const recordSuccess = (key: string) => {
    if (!probes.delete(key) || probes.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    named.clear();
    connectionError = DISCONNECTED;
    metrics.recordQuotaStore(false);
    log.info('the quota store counts again');
  };

  const adderFor = (window: Window): Add => {
    if (window === 'busiest minute')
      return async (key, calls) => [Number(await redis.eval(COUNT_BUSIEST, 1, key, calls)), 0];
    const limiter = new limiters.RateLimiterRedis({ storeClient: redis, keyPrefix: '', points: 1, duration: window });
    return async (key, calls) => {
      // Unlike `consume`, it rejects only if nothing was counted.
      const { consumedPoints, msBeforeNext } = await limiter.penalty(key, calls);
      return [consumedPoints, msBeforeNext];
    };
  };

  /** Counts, and records whether the answer came in time. */
  const count = async <Result>(add: Add, key: string, calls: number, onCount: OnCount<Result>) => {
    const probe = () => count(add, key, 0, () => {});
    const timeout = startTimeout(eventLoop);
    try {
      if (!isSelected) await Promise.race([waitUntilSelected(), timeout.promise]);
      const counting = add(key, calls).then(([counted, msLeft]) => {
        // The answer may come from a proxy or another program.
        if (!(counted >= calls && Number.isInteger(msLeft)))
          throw Object.assign(new Error('no count'), { code: 'NO_COUNT' });
        hasAnswered = true;
        return onCount(counted, msLeft);
      });
      const result = await Promise.race([counting, timeout.promise]);
      recordSuccess(key);
      return result;
    } catch (error) {
      const cause = error === undefined ? `no answer within ${COUNT_TIMEOUT_MS} ms` : describe(error);
      recordFailure(key, probe, cause, isReplyError(error));
      return undefined;
    } finally {
      timeout.stop();
    }
  };
  const describe = (error: unknown) => {
    const cause = causeOf(error) ?? connectionError;
    return /^(MOVED|CLUSTERDOWN|CROSSSLOT)$/.test(cause) ? `${cause}: a node of a cluster, which cannot count` : cause;
  };

  const probeAll = async () => {
    // Starts the interval anew, so that answers have a whole second and are read even if this process is late.
    timer?.refresh();
    if (hasAnswered) {
      hasAnswered = false;
      for (const probe of [...probes.values()]) await probe();
    } else {
      // The store is silent or refuses, like a node that is no longer the primary. A new connection may reach another node.
      redis.stream.destroy();
      hasAnswered = true;
    }
  };

  const first = adderFor(1);
  const probeFirst = () => count(first, PROBE_KEY, 0, () => {});
  redis.on('close', () => {
    [isSelected, isSelectRefused] = [isFirstDatabase, false];
    if (!isClosed) recordFailure(PROBE_KEY, probeFirst, connectionError);
  });
  await once(redis, 'ready', { signal: AbortSignal.timeout(PROBE_INTERVAL_MS) }).catch(() => {});
  // Three rounds, because the first scripts and answers take longer than later ones.
  for (let round = 0; round < 3; round += 1) await probeFirst();

  return {
    /** A counter that never rejects. It gives undefined while the store is away; a late answer still reaches `onCount`. */
    counter: (keyPrefix: string, window: Window) => {
      const add = adderFor(window);
      return async <Result>(account: string, onCount: OnCount<Result>, calls = 1): Promise<Result | undefined> => {
        const wasAway = probes.size > 0;
        const result = count(add, `${keyPrefix}:${account}`, calls, onCount);
        return wasAway ? undefined : result;
      };
    },
    close: () => {
      isClosed = true;
      clearInterval(timer);
      redis.disconnect();
    },
  };
}

/** Rejects once an answer is too late. Lag of this process extends the time, because the store did not cause it. */
function startTimeout(eventLoop: EventLoop) {
  const { promise, reject } = Promise.withResolvers<never>();
  // Avoids an unhandled rejection if nothing awaits the promise any more.
  promise.catch(() => {});
  const unwatch = eventLoop.watch?.();
  let waitedMs = 0;
  let timer: NodeJS.Timeout;
  const wait = (ms: number) => {
    const lagBeforeMs = eventLoop.totalLagMs();
    waitedMs += ms;
    const isOver = () => {
      const lagMs = eventLoop.totalLagMs() - lagBeforeMs;
      if (lagMs < MIN_LAG_MS || waitedMs >= MAX_COUNT_TIMEOUT_MS) reject(undefined);
      else wait(COUNT_TIMEOUT_MS);
    };
    // After a lag of this process, an answer that waits in the socket is read first.
    timer = setTimeout(() => setImmediate(isOver), ms);
  };
  wait(COUNT_TIMEOUT_MS);
  const stop = () => {
    clearTimeout(timer);
    unwatch?.();
  };
  return { promise, stop };
}

/**
 * The first word of a refusal, such as READONLY, or the code of a failed connection. Never a message, which can hold data.
 * Redis before version 7 wraps the word if a script is refused: `ERR Error running script …: -READONLY …`.
 */
function causeOf(error: unknown): string | undefined {
  if (isReplyError(error)) return /^(?:ERR .*: -)?([A-Z]+)/.exec(error.message)?.[1];
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Did the store answer with an error? */
function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
