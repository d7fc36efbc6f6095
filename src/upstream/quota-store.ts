import { once } from 'node:events';
import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { tlsOptionsFor } from '../runtime/http.ts';
import type { UpstreamMetrics } from './metrics.ts';

/** The longest that a call waits for its counts, and the least time that it leaves to the last one, in ms. */
const [MAX_WAIT_MS, MIN_WAIT_MS] = [50, 5];
/** After a count that failed, this process counts alone for this many ms, so that a silent store does not delay every call. */
const RETRY_AFTER_MS = 1_000;
/** How long the start and each attempt wait for a connection, in ms. */
const CONNECT_TIMEOUT_MS = 1_000;
/** How long a connection can be silent while it owes an answer, even to its login, in ms: a dead node sends no FIN. */
const MAX_SILENCE_MS = 3_000;

export type Count = Awaited<ReturnType<typeof countBy>>;
/** Counts a call by a key, in a window of this many seconds; `waitedMs` is its wait for earlier counts. Never rejects. */
export type Counter = (key: string, seconds: number, waitedMs: number) => Promise<Count>;

/** A count is not taken back with less time left than this, in ms: the count of the next window would fall below 0. */
const LEAST_LEFT_MS = 1_000;
/** How long a refused key is remembered after its last use, in ms. */
const REMEMBERED_MS = 60_000;

/** Each count has a duration of its own. */
const OPTIONS = { keyPrefix: '', points: 1, duration: 1 };

/** `calls` are those in the window, with this one. `takeBack` never rejects: what cannot be taken back stays counted. */
async function countBy(limiter: RateLimiterMemory | RateLimiterRedis, key: string, customDuration: number) {
  const { consumedPoints: calls, msBeforeNext } = await limiter.penalty(key, 1, { customDuration });
  const takeBack = async () => {
    if (msBeforeNext > LEAST_LEFT_MS) await limiter.reward(key, 1, { customDuration }).catch(() => undefined);
  };
  return { calls, msBeforeNext, takeBack };
}

export function counterOfProcess(): Counter {
  const limiter = new RateLimiterMemory(OPTIONS);
  return (key, seconds) => countBy(limiter, key, seconds);
}

/** Connects to the Valkey or Redis in which all replicas count. Never rejects: what it does not count, this process counts alone. */
export async function openQuotaStore(url: string, log: Logger, metrics: Pick<UpstreamMetrics, 'recordQuotaStore'>) {
  const { Redis } = await import('ioredis');
  const { protocol, hostname } = new URL(url);
  /** Until when this process counts a key alone (`undefined`: all keys); kept until the store counts again. */
  const aloneUntil = new Map<string | undefined, number>();
  /** The logged causes. */
  const causes = new Set<string>();
  const isAlone = (key?: string) => [undefined, key].some((scope) => performance.now() < (aloneUntil.get(scope) ?? 0));

  /** Forgets keys that are no longer used, the oldest first, such as that of a person who has left. */
  function forget(now: number): void {
    for (const [key, until] of aloneUntil) {
      if (now < until + REMEMBERED_MS) return;
      aloneUntil.delete(key);
    }
  }

  /** Without a key, it concerns all. Without a cause, a connection was only closed: it soon returns, or reports an error. */
  function recordFailure(cause: string | undefined, key?: string): void {
    const now = performance.now();
    if (!isAlone(key)) {
      aloneUntil.delete(key);
      aloneUntil.set(key, now + RETRY_AFTER_MS);
    }
    forget(now);
    metrics.recordQuotaStore(true);
    if (cause === undefined || causes.has(cause)) return;
    causes.add(cause);
    log.warn({ internal: cause }, 'quota store unavailable; counting per process');
  }

  function recordCount(key: string): void {
    aloneUntil.delete(undefined);
    // A failure that has ended for one key may have concerned all.
    if (aloneUntil.has(key)) aloneUntil.clear();
    forget(performance.now());
    if (aloneUntil.size > 0) return;
    metrics.recordQuotaStore(false);
    if (causes.size > 0) log.info('the quota store counts again');
    causes.clear();
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
    reconnectOnError: ({ message }) => message.includes('READONLY'),
    // Needs a right to INFO, and shows less than a count.
    enableReadyCheck: false,
    // Every Valkey and Redis speaks RESP2.
    protocol: 2,
    disableClientInfo: true,
  });
  redis.on('error', (error) => {
    recordFailure(causeOf(error) ?? error.name);
    // Without the database of its address, ioredis would go on in another one.
    if (error.name === 'ReplyError') redis.disconnect(true);
  });

  const countAlone = counterOfProcess();
  const store = new RateLimiterRedis({ ...OPTIONS, storeClient: redis, rejectIfRedisNotReady: true });
  const counter: Counter = async (key, seconds, waitedMs) => {
    if (isAlone(key)) return countAlone(key, seconds, waitedMs);
    const ms = Math.max(MAX_WAIT_MS - MIN_WAIT_MS - waitedMs, MIN_WAIT_MS);
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<undefined>((resolve) => {
      // An answer that waits in the socket is read first. `commandTimeout` would blame the store for a pause of this process.
      timer = setTimeout(() => setImmediate(resolve, undefined), ms);
    });
    const answer = await Promise.race([countBy(store, key, seconds).catch((error: Error) => error), expired]);
    clearTimeout(timer);
    if (answer === undefined) recordFailure(`no answer within ${MAX_WAIT_MS} ms`);
    else if (!isCount(answer)) {
      const cause = causeOf(answer);
      // A failure with a cause was answered.
      recordFailure(cause, cause && key);
    } else {
      if (!isAlone(key)) recordCount(key);
      return answer;
    }
    return countAlone(key, seconds, waitedMs);
  };
  await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) }).catch(() => recordFailure(undefined));

  return { counter, close: () => redis.disconnect() };
}

/** A proxy or another script may answer anything. */
const isCount = (answer: Count | Error): answer is Count =>
  'calls' in answer && answer.calls >= 1 && [answer.calls, answer.msBeforeNext].every(Number.isSafeInteger);

/**
 * The first word of a refusal, such as READONLY, or the code of a failed connection. Never a message, which can hold data.
 * Redis before version 7 wraps the word if a script is refused: `ERR Error running script …: -READONLY …`.
 */
function causeOf(answer: Count | Error): string | undefined {
  // The library throws a TypeError if the answer is no list.
  if (!(answer instanceof Error) || answer instanceof TypeError) return 'an answer that is no count';
  const { name, message } = answer;
  if (name === 'ReplyError') return /^(?:ERR .*: -)?([A-Z]+)/.exec(message)?.[1] ?? name;
  if (message.startsWith('Socket timeout'))
    return `no answer for ${MAX_SILENCE_MS / 1_000} s; opening a new connection`;
  return 'code' in answer ? String(answer.code) : undefined;
}
