import { setTimeout as wait } from 'node:timers/promises';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import type { QuotaStore, StoreState } from './quota.ts';
import type { SharedCount, SharedCounter } from './quota-count.ts';

/** How long a call waits for one count, in ms. */
const COUNT_TIMEOUT_MS = 50;

/** How long the start waits for the connection, in ms. Without it the process counts alone until the connection is made. */
const CONNECT_TIMEOUT_MS = 1_000;

/** How long the store is left alone after it failed, and between two attempts to connect, in ms. */
const RETRY_AFTER_MS = 500;

/**
 * Connects to a Valkey or Redis that counts for all replicas. It never rejects: while the store is away, every counter
 * resolves with undefined.
 *
 * The limiter library would fall back to a limiter in memory by itself, but that one begins at zero, follows the wall clock,
 * and tells nobody. So the fallback is ours, in `quota.ts`.
 *
 * @param url redis:// or rediss://, with its user and password; without one there is no store, and nothing is loaded
 * @param onState called when the store goes away and when it is back
 */
export async function openQuotaStore(
  url: string | undefined,
  onState: (state: StoreState) => void,
): Promise<QuotaStore | undefined> {
  if (url === undefined) return undefined;
  const [{ Redis }, { RateLimiterRedis }] = await Promise.all([import('ioredis'), import('rate-limiter-flexible')]);
  const redis = new Redis(url, {
    // A count that waits for a connection, or is sent again after it broke, is of no use to its call.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: () => RETRY_AFTER_MS,
    // Every Valkey and Redis has version 2.
    protocol: 2,
    disableClientInfo: true,
  });
  let isAway = false;
  let retryAt = 0;

  function fail(cause: string): undefined {
    retryAt = performance.now() + RETRY_AFTER_MS;
    if (!isAway) onState({ isAway: true, cause });
    isAway = true;
  }
  function succeed(): void {
    if (isAway) onState({ isAway: false });
    isAway = false;
  }
  let isClosed = false;
  redis.on('error', (error) => void fail(causeOf(error)));
  redis.on('close', () => isClosed || fail('the connection is closed'));
  redis.on('ready', () => {
    retryAt = 0;
    succeed();
  });
  const tried = new Promise((resolve) => redis.once('ready', resolve).once('close', resolve));
  const deadline = new AbortController();
  const late = wait(CONNECT_TIMEOUT_MS, 'late', { signal: deadline.signal }).catch(() => 'in time');
  if ((await Promise.race([tried, late])) === 'late') fail('it did not answer in time');
  deadline.abort();

  function counter(name: string, seconds: number): SharedCounter {
    const limiter = new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `device-trust:${name}`,
      // It only counts here, because more than one limit decides about a call.
      points: Number.MAX_SAFE_INTEGER,
      duration: seconds,
      rejectIfRedisNotReady: true,
    });
    return async (account, calls) => {
      if (isAway && performance.now() < retryAt) return undefined;
      try {
        const { consumedPoints: used, msBeforeNext: endsInMs } = await inTime(limiter.consume(account, calls));
        succeed();
        return { used, endsInMs } satisfies SharedCount;
      } catch (error) {
        // A new connection drops the counts that the old one still waits for, and its readiness tells when the store is back.
        if (error instanceof TimeoutError) redis.disconnect(true);
        return fail(causeOf(error));
      }
    };
  }

  return {
    counter,
    close: () => {
      isClosed = true;
      redis.disconnect();
    },
  };
}

class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** Rejects if the count does not come in time. It may count all the same, so the quota is at worst used up too early. */
async function inTime(count: Promise<RateLimiterRes>): Promise<RateLimiterRes> {
  const timeout = Promise.withResolvers<never>();
  // After a lag of our own, a count that has arrived meanwhile is read first: the lag is not the store's.
  const timer = setTimeout(() => setImmediate(() => timeout.reject(new TimeoutError())), COUNT_TIMEOUT_MS);
  try {
    return await Promise.race([count, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** What an error is, without its message: that can hold the address. */
function causeOf(error: unknown): string {
  const { code, name } = Object(error);
  return String(code ?? name);
}
