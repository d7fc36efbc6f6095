import { once } from 'node:events';
import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { tlsOptionsFor } from '../runtime/http.ts';
import type { UpstreamMetrics, Window } from './metrics.ts';

/** How long a call waits for its counts, of which the last one still has the least time, in ms. */
const [MAX_WAIT_MS, MIN_WAIT_MS] = [50, 5];
/** After a count that failed, this process counts alone for this many ms, so that a silent store does not delay every call. */
const RETRY_AFTER_MS = 1_000;
/** How long the start and each attempt wait for a connection, in ms. */
const CONNECT_TIMEOUT_MS = 1_000;
/** How long a connection may owe an answer, also to its login, without a byte, in ms: a node that has died sends no FIN. */
const MAX_SILENCE_MS = 3_000;

/** Counts calls by key. Neither method rejects. */
interface Counter {
  /** Adds a call that has already waited this long for other counts, in ms. */
  penalty(key: string, waitedMs: number): Promise<RateLimiterRes>;
  reward(key: string): Promise<unknown>;
}

export type Counters = Readonly<Record<Window, Counter>>;

const SECOND = { keyPrefix: '', points: 1, duration: 1 };
const DAY = { ...SECOND, duration: 86_400 };

export function countersOfProcess(): Counters {
  const counterFor = (options: typeof SECOND): Counter => {
    const limiter = new RateLimiterMemory(options);
    return { penalty: (key) => limiter.penalty(key), reward: (key) => limiter.reward(key) };
  };
  return { second: counterFor(SECOND), day: counterFor(DAY) };
}

/** Connects to the Valkey or Redis in which all replicas count. Never rejects: without an answer, this process counts alone. */
export async function openQuotaStore(url: string, log: Logger, metrics: Pick<UpstreamMetrics, 'recordQuotaStore'>) {
  const { Redis } = await import('ioredis');
  const { protocol, hostname } = new URL(url);
  /** Why the last command or connection failed; undefined if there was no answer. */
  let cause: string | undefined;
  let isAway = false;
  /** Why, as logged. */
  const causes = new Set<string>();
  let aloneUntil = 0;
  const isAlone = () => performance.now() < aloneUntil;

  function record(isNowAway: boolean): void {
    if (isNowAway && !isAlone()) aloneUntil = performance.now() + RETRY_AFTER_MS;
    if (isNowAway !== isAway) metrics.recordQuotaStore(isNowAway);
    isAway = isNowAway;
    if (!isAway) cause = undefined;
    // A connection that was only closed is back soon, or has an error.
    const internal = cause ?? (redis.status === 'ready' ? `no answer within ${MAX_WAIT_MS} ms` : undefined);
    if (isAway && internal !== undefined && !causes.has(internal)) {
      causes.add(internal);
      log.warn({ internal }, 'quota store unavailable; counting per process');
    } else if (!isAway && causes.size > 0) {
      causes.clear();
      log.info('the quota store counts again');
    }
  }

  const redis = new Redis(url, {
    ...(protocol === 'rediss:' && { tls: tlsOptionsFor(hostname) }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: MAX_SILENCE_MS,
    // A count that waits for a connection, or is sent again after a disconnect, comes too late for its call.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => RETRY_AFTER_MS / 2,
    // After a failover the same name leads to another server.
    reconnectOnError: (error) => {
      if (!error.message.startsWith('NOSCRIPT')) cause = causeOf(error);
      return error.message.includes('READONLY');
    },
    // Needs a right to INFO, and shows less than a count.
    enableReadyCheck: false,
    // Every Valkey and Redis speaks RESP2.
    protocol: 2,
    disableClientInfo: true,
  });
  redis.on('error', (error) => {
    cause = causeOf(error);
    record(true);
    // Without the database of its address, ioredis would go on in another one.
    if (error.name === 'ReplyError') redis.disconnect(true);
  });

  const counterFor = (options: typeof SECOND): Counter => {
    const alone = new RateLimiterMemory(options);
    const store = new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true });
    return {
      penalty: async (key, waitedMs) => {
        if (isAlone()) return alone.penalty(key);
        const ms = Math.max(MAX_WAIT_MS - MIN_WAIT_MS - waitedMs, MIN_WAIT_MS);
        let timer: NodeJS.Timeout | undefined;
        const expired = new Promise<undefined>((resolve) => {
          // An answer that waits in the socket is read first. `commandTimeout` would blame the store for a pause of this process.
          timer = setTimeout(() => setImmediate(resolve, undefined), ms);
        });
        // `cause` has the reason of a failure.
        const count = await Promise.race([store.penalty(key).catch(() => undefined), expired]);
        clearTimeout(timer);
        if (!count) record(true);
        else if (!isAlone()) record(false);
        return count ?? alone.penalty(key);
      },
      // A call that cannot be taken back stays counted.
      reward: (key) => (isAlone() ? alone : store).reward(key).catch(() => undefined),
    };
  };
  await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) }).catch(() => record(true));

  return { counters: { second: counterFor(SECOND), day: counterFor(DAY) }, close: () => redis.disconnect() };
}

/**
 * The first word of a refusal, such as READONLY, or the code of a failed connection. Never a message, which can hold data.
 * Redis before version 7 wraps the word if a script is refused: `ERR Error running script …: -READONLY …`.
 */
function causeOf(error: Error): string {
  if (error.name === 'ReplyError') return /^(?:ERR .*: -)?([A-Z]+)/.exec(error.message)?.[1] ?? error.name;
  if (error.message.startsWith('Socket timeout'))
    return `no answer for ${MAX_SILENCE_MS / 1_000} s; opening a new connection`;
  return 'code' in error ? String(error.code) : error.name;
}
