import { once } from 'node:events';
import type { Logger } from 'pino';
import type { RateLimiterRedis } from 'rate-limiter-flexible';
import { tlsOptionsFor } from '../runtime/http.ts';
import type { UpstreamMetrics } from './metrics.ts';

/** How long a call waits for its count, in ms. */
const COUNT_TIMEOUT_MS = 50;
/** How often the store is probed, and how long the start waits for the connection, in ms. */
const PROBE_INTERVAL_MS = 1_000;
/** The time between two attempts to connect, in ms. */
const RETRY_AFTER_MS = 500;
const DISCONNECTED = 'no connection';

/** Gets the calls counted in the current window, and the ms until it ends. */
type Learn<Rest> = (calls: number, msLeft: number) => Rest;

export type QuotaStore = Awaited<ReturnType<typeof openQuotaStore>>;

/**
 * Connects to a Valkey or Redis where all replicas count. Answers to counts, and to a probe each second, decide whether
 * it is away: a connection can stand while every count is refused. It never rejects because of the store.
 */
export async function openQuotaStore(url: string, log: Logger, metrics: Pick<UpstreamMetrics, 'recordQuotaStore'>) {
  const [{ Redis }, limiters] = await Promise.all([import('ioredis'), import('rate-limiter-flexible')]);
  const { protocol, hostname } = new URL(url);
  const redis = new Redis(url, {
    ...(protocol === 'rediss:' && { tls: tlsOptionsFor(hostname) }),
    // A count that waits for a connection, or is sent again after a disconnect, comes too late for its call.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => RETRY_AFTER_MS,
    // The probe shows whether it is ready.
    enableReadyCheck: false,
    // Every Valkey and Redis has version 2.
    protocol: 2,
    disableClientInfo: true,
  });
  let connectionError = DISCONNECTED;
  redis.on('error', (error) => {
    connectionError = causeOf(error) ?? error.name;
  });

  let isAway = false;
  const report = (cause?: string) => {
    const wasAway = isAway;
    isAway = cause !== undefined;
    if (isAway === wasAway) return;
    metrics.recordQuotaStore(isAway);
    if (isAway) return log.warn({ internal: cause }, 'quota store unavailable; counting per process');
    connectionError = DISCONNECTED;
    log.info('the quota store counts again');
  };

  // Unlike `consume`, its `penalty` rejects only if nothing was counted.
  const limiterOf = (keyPrefix: string, duration: number) =>
    new limiters.RateLimiterRedis({ storeClient: redis, keyPrefix, points: 1, duration });

  /** Counts, and reports whether the answer came in time. */
  const count = async <Rest>(limiter: RateLimiterRedis, key: string, calls: number, learn: Learn<Rest>) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      // After a lag of this process, an answer that waits in the socket is read first.
      timer = setTimeout(() => setImmediate(reject), COUNT_TIMEOUT_MS);
    });
    try {
      const learnt = limiter.penalty(key, calls).then(({ consumedPoints, msBeforeNext }) => {
        // A proxy or another program may answer, too.
        if (consumedPoints >= calls && Number.isInteger(msBeforeNext)) return learn(consumedPoints, msBeforeNext);
        throw Object.assign(new Error('no count'), { code: 'NO_COUNT' });
      });
      const rest = await Promise.race([learnt, late]);
      report();
      return rest;
    } catch (error) {
      report(error === undefined ? `no answer within ${COUNT_TIMEOUT_MS} ms` : (causeOf(error) ?? connectionError));
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };

  const prober = limiterOf('device-trust', 1);
  let isAnswered = true;
  const probe = async () => {
    // The answer has a second from now on, and is read before the next probe, however late this process is.
    timer.refresh();
    if (isAnswered) {
      isAnswered = false;
      // Counting 0 is a write, too.
      await count(prober, 'probe', 0, () => {
        isAnswered = true;
      });
    } else {
      // The store is silent or refuses, like a node that is no longer the primary. A new connection may reach another node.
      redis.stream.destroy();
      isAnswered = true;
    }
  };
  await once(redis, 'ready', { signal: AbortSignal.timeout(PROBE_INTERVAL_MS) }).catch(() => {});
  const timer = setInterval(() => setImmediate(probe), PROBE_INTERVAL_MS).unref();
  await probe();

  return {
    /** A counter that never rejects: undefined while the store is away. A late answer is learnt, not waited for. */
    counter: (keyPrefix: string, seconds: number) => {
      const limiter = limiterOf(keyPrefix, seconds);
      return async <Rest>(account: string, learn: Learn<Rest>): Promise<Rest | undefined> => {
        const wasAway = isAway;
        const rest = count(limiter, account, 1, learn);
        return wasAway ? undefined : rest;
      };
    },
    close: () => {
      clearInterval(timer);
      redis.disconnect();
    },
  };
}

/**
 * The first word of a refusal, such as READONLY, or the code of a failed connection. Never a message, which can hold data.
 * Redis before version 7 wraps the word if a script is refused: `ERR Error running script …: -READONLY …`.
 */
function causeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'ReplyError') return /^(?:ERR .*: -)?([A-Z]+)/.exec(error.message)?.[1];
  return 'code' in error ? String(error.code) : undefined;
}
