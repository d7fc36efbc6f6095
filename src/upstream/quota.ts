import type { Logger } from 'pino';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import { DeviceTrustError } from '../errors.ts';
import type { Metrics } from '../observability/metrics.ts';

/** How many calls may be sent for one account. */
export interface QuotaLimits {
  readonly perSecond?: number | undefined;
  readonly perDay?: number | undefined;
}

/** One limit that is configured. A window begins with its first call. */
interface Limit {
  readonly window: 'second' | 'day';
  readonly calls: number;
  /** Counts a call of an account; rejects with the same result once more were counted than are allowed. */
  readonly consume: (account: string) => Promise<RateLimiterRes>;
}

/** The quota of one service. Each of its accounts has its own count. */
export class Quota {
  readonly #service: string;
  readonly #limits: readonly Limit[];
  readonly #metrics: Pick<Metrics, 'recordQuotaExceeded'>;
  /** What the last call of each account has shown about each limit, until the window ends on the clock of `performance.now()`. */
  readonly #known = new Map<string, Map<Limit, { readonly left: number; readonly endsAt: number }>>();

  constructor(service: string, limits: readonly Limit[], metrics: Pick<Metrics, 'recordQuotaExceeded'>) {
    this.#service = service;
    this.#limits = limits;
    this.#metrics = metrics;
  }

  /** Is a limit of this account known to be used up? */
  isUsedUp(account: string): boolean {
    return this.#limits.some((limit) => this.#leftOf(account, limit) === 0);
  }

  /** Refuses a call whose account is known to have nothing left. It is asked before the call waits in the queue. */
  check(account: string): void {
    for (const limit of this.#limits) if (this.#leftOf(account, limit) === 0) this.#refuse(account, limit);
  }

  /** Counts a call that is about to be sent, and refuses it if it is one too many. */
  async take(account: string): Promise<void> {
    this.check(account);
    for (const limit of this.#limits) {
      const { consumedPoints, remainingPoints, msBeforeNext } = await limit.consume(account);
      const known = this.#known.get(account) ?? new Map();
      this.#known.set(account, known.set(limit, { left: remainingPoints, endsAt: performance.now() + msBeforeNext }));
      if (consumedPoints > limit.calls) this.#refuse(account, limit);
    }
  }

  states(): (readonly [window: string, { readonly limit: number; readonly left: number }])[] {
    return this.#limits.map((limit) => {
      const left = [...this.#known.keys()].map((account) => this.#leftOf(account, limit));
      return [limit.window, { limit: limit.calls, left: Math.min(limit.calls, ...left) }];
    });
  }

  #leftOf(account: string, limit: Limit): number {
    const known = this.#known.get(account)?.get(limit);
    return known && performance.now() < known.endsAt ? known.left : limit.calls;
  }

  #refuse(account: string, { window, calls }: Limit): never {
    this.#metrics.recordQuotaExceeded(this.#service, window);
    const internal = `quota of ${calls} calls a ${window} is used up for account ${account}`;
    // A client that tried again within a time that makes sense to it would fail all day.
    throw new DeviceTrustError('QUOTA_EXCEEDED', { internal, ...(window === 'day' && { retryable: false }) });
  }
}

/** How long a call waits for a count of the store, in ms. Then this process counts it. */
const COUNT_TIMEOUT_MS = 50;
/** How long the start waits for the connection, and how long a connection may be silent while a count is under way, in ms. */
const CONNECT_TIMEOUT_MS = 1_000;
/** The time between two attempts to connect, in ms. */
const RETRY_AFTER_MS = 500;

interface Options {
  readonly fingerprintQuota: QuotaLimits | undefined;
  readonly captchaQuota: QuotaLimits | undefined;
  /** redis:// or rediss://, with its user and password, where all replicas count together. Without it each counts alone. */
  readonly quotaStoreUrl: string | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Opens the quota of each service that has one. The packages that count are loaded only then. It never rejects because of the store:
 * while that is away, each process counts alone, from 0 on.
 */
export async function openQuotas({ fingerprintQuota, captchaQuota, quotaStoreUrl, log, metrics }: Options) {
  if (!fingerprintQuota && !captchaQuota) return { fingerprint: undefined, captcha: undefined, close: () => {} };
  const { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } = await import('rate-limiter-flexible');
  const redis = quotaStoreUrl === undefined ? undefined : await connect(quotaStoreUrl, log, metrics);
  const limitOf = (service: string, window: Limit['window'], calls: number | undefined, seconds: number): Limit[] => {
    if (calls === undefined) return [];
    const keyPrefix = `device-trust:${service}:${window}`;
    const options = { keyPrefix, points: calls, duration: seconds };
    const alone = new RateLimiterMemory(options);
    const insured = { ...options, storeClient: redis, rejectIfRedisNotReady: true, insuranceLimiter: alone };
    const limiter = redis ? new RateLimiterRedis(insured) : alone;
    // Beyond the limit the library rejects with the same kind of result.
    const asResult = (reason: unknown) => {
      if (reason instanceof RateLimiterRes) return reason;
      throw reason;
    };
    return [{ window, calls, consume: (account) => limiter.consume(account).catch(asResult) }];
  };
  const quotaOf = (service: string, limits: QuotaLimits | undefined): Quota | undefined => {
    if (!limits) return undefined;
    // The second comes before the day, so that a call which is refused in its second costs nothing of the day.
    const second = limitOf(service, 'second', limits.perSecond, 1);
    return new Quota(service, [...second, ...limitOf(service, 'day', limits.perDay, 86_400)], metrics);
  };
  return {
    fingerprint: quotaOf('fingerprint', fingerprintQuota),
    captcha: quotaOf('captcha', captchaQuota),
    close: () => redis?.disconnect(),
  };
}

/** Connects to a Valkey or Redis, and says in the log and the metrics whether it is there. */
async function connect(url: string, log: Logger, metrics: Metrics) {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    lazyConnect: true,
    // A count that waits for a connection, or is sent again after it broke, is of no use to its call.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COUNT_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: () => RETRY_AFTER_MS,
    // Every Valkey and Redis has version 2.
    protocol: 2,
    disableClientInfo: true,
  });
  let isAway = false;
  const report = (away: boolean) => {
    isAway = away;
    metrics.recordQuotaStore(away);
  };
  // What an error is, without its message: that can hold the address.
  let cause = 'the connection is closed';
  redis.on('error', ({ code, name }: NodeJS.ErrnoException) => {
    cause = code ?? name;
  });
  redis.on('close', () => {
    if (isAway) return;
    report(true);
    log.warn({ internal: cause }, 'the store of the quotas is away, so each process counts alone');
  });
  redis.on('ready', () => {
    if (!isAway) return;
    report(false);
    log.info('the store of the quotas is back');
  });
  // Without a connection the events have logged it, and further attempts follow by themselves.
  await redis.connect().catch(() => {});
  return redis;
}
