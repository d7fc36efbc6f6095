import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Metrics } from '../observability/metrics.ts';

/** How long a call waits for one count, in ms. */
const COUNT_TIMEOUT_MS = 50;

/** How long the start waits for the connection, in ms. Without it the process counts alone until the connection is made. */
const CONNECT_TIMEOUT_MS = 1_000;

/** How long the store is left alone after it failed, and between two attempts to connect, in ms. */
const RETRY_AFTER_MS = 500;

/** What the store has counted in a window. */
export interface SharedCount {
  /** Calls of all replicas. */
  readonly used: number;
  readonly endsInMs: number;
}

/** The cause of a count that did not come in time, for the log. */
const TIMEOUT = 'TimeoutError';

/** Counts calls in a window that begins with the first of them. */
const COUNT = `
  redis.call('SET', KEYS[1], 0, 'PX', ARGV[2], 'NX')
  return { redis.call('INCRBY', KEYS[1], ARGV[1]), redis.call('PTTL', KEYS[1]) }
`;

/** A Valkey or Redis that counts for all replicas. */
export class QuotaStore {
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  #isAway = false;
  #isClosed = false;
  #retryAt = 0;

  constructor(redis: Redis, log: Logger, metrics: Metrics) {
    this.#redis = redis;
    this.#log = log;
    this.#metrics = metrics;
    redis.on('error', (error) => this.#fail(causeOf(error)));
    redis.on('close', () => {
      if (!this.#isClosed) this.#fail('the connection is closed');
    });
    redis.on('ready', () => this.#succeed());
  }

  /**
   * Counts so many calls.
   *
   * @param key names what is counted, such as `fingerprint:day:` and an account
   * @param windowMs the length of the window
   * @returns undefined while the store is away; never rejects
   */
  async count(key: string, calls: number, windowMs: number): Promise<SharedCount | undefined> {
    if (this.#redis.status !== 'ready' || performance.now() < this.#retryAt) return undefined;
    try {
      // Sound: the script returns two integers.
      const counted = this.#redis.eval(COUNT, 1, `device-trust:${key}`, calls, windowMs) as Promise<[number, number]>;
      const [used, endsInMs] = await inTime(counted);
      this.#succeed();
      return { used, endsInMs };
    } catch (error) {
      // A new connection drops the counts that the old one still waits for, and its readiness tells when the store is back.
      const cause = causeOf(error);
      if (cause === TIMEOUT && !this.#isAway) this.#redis.disconnect(true);
      this.#fail(cause);
      return undefined;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#redis.disconnect();
  }

  #fail(cause: string): void {
    this.#retryAt = performance.now() + RETRY_AFTER_MS;
    if (this.#isAway) return;
    this.#isAway = true;
    this.#metrics.recordQuotaStore(true);
    this.#log.warn({ internal: cause }, 'the store of the quotas is away, so each process counts alone');
  }

  #succeed(): void {
    this.#retryAt = 0;
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#metrics.recordQuotaStore(false);
    this.#log.info('the store of the quotas is back');
  }
}

/**
 * Connects to the store. It never rejects: while the store is away, each process counts alone.
 *
 * @param url redis:// or rediss://, with its user and password; without one there is no store, and nothing is loaded
 */
export async function openQuotaStore(
  url: string | undefined,
  log: Logger,
  metrics: Metrics,
): Promise<QuotaStore | undefined> {
  if (url === undefined) return undefined;
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    lazyConnect: true,
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
  const store = new QuotaStore(redis, log, metrics);
  // Without a connection the events of above have been logged, and further attempts follow by themselves.
  await redis.connect().catch(() => {});
  return store;
}

/** Rejects if the count does not come in time. It may count all the same, so the quota is at worst used up too early. */
async function inTime<Value>(count: Promise<Value>): Promise<Value> {
  const timeout = Promise.withResolvers<never>();
  // After a lag of our own, a count that has arrived meanwhile is read first: the lag is not the store's.
  const timer = setTimeout(() => setImmediate(() => timeout.reject({ code: TIMEOUT })), COUNT_TIMEOUT_MS);
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
