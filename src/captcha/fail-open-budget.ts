import type { Requester } from '../graphql/caller.ts';
import { type Callers, type Holder, SharedCount, sharesOf } from '../runtime/shares.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** In a minute of an outage, FACTOR × the verified passes of the last hour's busiest minute may proceed. */
const FACTOR = 2;
/** The captchas that may proceed without verified passes: over the life of a process, for all captcha ids together. */
const MINIMUM = 10;

/** The most passes of one requester that count in a minute, and the most of its captchas that proceed in a minute. */
const PER_MINUTE: Readonly<Record<Requester['kind'], number>> = {
  person: 3,
  network: 12,
  anonymous: Number.POSITIVE_INFINITY,
  untracked: Number.POSITIVE_INFINITY,
};

/** The verified passes of one minute. */
interface Minute {
  readonly startedAt: number;
  passes: number;
  /** `passes` by requester, until the next minute begins. */
  readonly byRequester: Map<string, number>;
}

/**
 * Limits the captchas that proceed while their service is down:
 * - The limit follows verified passes, so a bot has to solve challenges.
 * - Each kind of requester has a bucket, because a bot gets anonymity more easily than networks, and networks than accounts.
 * - Each calling service has its own buckets, because it names its requesters itself.
 * - Counts outlast an outage, so a service that flaps lets no more captchas through.
 * - Each process counts alone, and its passes grow with its traffic, so the limits of all processes add up to the whole.
 */
export class FailOpenBudget {
  /** The minutes of the last hour, by bucket. */
  readonly #minutes = new Map<string, Minute[]>();
  /** The captchas that proceeded within the last minute, by bucket and by requester. */
  readonly #proceededIn = new Map<string, number>();
  readonly #proceededOf = new Map<string, number>();
  readonly #proceeded = new SharedCount();
  /** The shares of services in MINIMUM. */
  readonly #shares: ReturnType<typeof sharesOf>;

  constructor(callers: Callers) {
    this.#shares = sharesOf(MINIMUM, callers);
  }

  /** Records a verified pass of a requester; `now` excludes the time that the id spent in outages, in ms. */
  recordPass(captchaId: string, requester: Requester, now: number, caller: Holder = ROUTER): void {
    const bucket = bucketOf(captchaId, requester, caller);
    const minute = this.#minuteOf(bucket, now);
    const own = minute.byRequester.get(keyOf(requester)) ?? 0;
    if (own >= PER_MINUTE[requester.kind]) return;
    minute.byRequester.set(keyOf(requester), own + 1);
    minute.passes += 1;
  }

  /** May one more captcha proceed? If so, it is counted. For `now` see `recordPass`. */
  take(captchaId: string, requester: Requester, now: number, caller: Holder = ROUTER): boolean {
    const key = `${scopeOf(caller)}${keyOf(requester)}`;
    const bucket = bucketOf(captchaId, requester, caller);
    if ((this.#proceededOf.get(key) ?? 0) >= PER_MINUTE[requester.kind]) return false;
    const minutes = withinHour(this.#minutes.get(bucket) ?? [], now);
    const limit = FACTOR * Math.max(0, ...minutes.map(({ passes }) => passes));
    const isWithinMinimum = requester.kind !== 'anonymous' && this.#proceeded.hasRoom(MINIMUM, this.#shares, caller, 1);
    if (!isWithinMinimum && (this.#proceededIn.get(bucket) ?? 0) >= limit) return false;
    this.#proceeded.add(caller, 1);
    countForMinute(this.#proceededIn, bucket);
    countForMinute(this.#proceededOf, key);
    return true;
  }

  /** The current minute of a bucket. A new one begins after the last one is over. */
  #minuteOf(bucket: string, now: number): Minute {
    const minutes = this.#minutes.get(bucket) ?? [];
    const last = minutes.at(-1);
    if (last && now - last.startedAt < MINUTE_MS) return last;
    last?.byRequester.clear();
    const minute = { startedAt: now, passes: 0, byRequester: new Map() };
    this.#minutes.set(bucket, [...withinHour(minutes, now), minute]);
    return minute;
  }
}

const ROUTER: Holder = { name: 'router', isService: false };

/** The prefix of a key: the service that names the requester; empty if the router does. */
function scopeOf({ name, isService }: Holder): string {
  return isService ? `${name} ` : '';
}

function bucketOf(captchaId: string, { kind }: Requester, caller: Holder): string {
  return `${scopeOf(caller)}${captchaId} ${kind}`;
}

function keyOf({ kind, id }: Requester): string {
  return `${kind} ${id}`;
}

function withinHour(minutes: readonly Minute[], now: number): Minute[] {
  return minutes.filter(({ startedAt }) => now - startedAt < HOUR_MS);
}

/** Adds 1 to a count for a minute. */
function countForMinute(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
  const forget = () => {
    const left = (counts.get(key) ?? 1) - 1;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  };
  setTimeout(forget, MINUTE_MS).unref();
}
