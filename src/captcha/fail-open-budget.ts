import { type Callers, type Holder, type Requester, SharedCount, sharesOf } from '../callers/shares.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** In a minute of an outage, FACTOR × the verified passes of the busiest minute in the hour before may proceed. */
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
export function createFailOpenBudget(callers: Callers) {
  /** When each captcha id last had a verified pass, on the clock of `performance.now()`: in an outage it has none. */
  const lastPassOf = new Map<string, number>();
  /** The minutes of the hour before the last pass, by bucket. */
  const minutesOf = new Map<string, Minute[]>();
  /** The captchas that proceeded within the last minute, by bucket and by requester. */
  const proceededIn = new Map<string, number>();
  const proceeded = new SharedCount();
  const shares = sharesOf(MINIMUM, callers);

  /** The current minute of a bucket. A new one begins after the last one is over. */
  function minuteOf(bucket: string, now: number): Minute {
    const minutes = minutesOf.get(bucket) ?? [];
    const last = minutes.at(-1);
    if (last && now - last.startedAt < MINUTE_MS) return last;
    last?.byRequester.clear();
    const minute = { startedAt: now, passes: 0, byRequester: new Map() };
    minutesOf.set(bucket, [...withinHour(minutes, now), minute]);
    return minute;
  }

  return {
    recordPass: (captchaId: string, caller: Holder, from: Requester): void => {
      const now = performance.now();
      lastPassOf.set(captchaId, now);
      const { bucket, requester } = keysOf(captchaId, caller, from);
      const minute = minuteOf(bucket, now);
      const own = minute.byRequester.get(requester) ?? 0;
      if (own >= PER_MINUTE[from.kind]) return;
      minute.byRequester.set(requester, own + 1);
      minute.passes += 1;
    },
    /** May one more captcha proceed? If so, it is counted. */
    take: (captchaId: string, caller: Holder, from: Requester): boolean => {
      const { bucket, requester } = keysOf(captchaId, caller, from);
      if ((proceededIn.get(requester) ?? 0) >= PER_MINUTE[from.kind]) return false;
      const minutes = withinHour(minutesOf.get(bucket) ?? [], lastPassOf.get(captchaId) ?? 0);
      const limit = FACTOR * Math.max(0, ...minutes.map(({ passes }) => passes));
      const isWithinMinimum = from.kind !== 'anonymous' && proceeded.hasRoom(MINIMUM, shares, caller, 1);
      if (!isWithinMinimum && (proceededIn.get(bucket) ?? 0) >= limit) return false;
      proceeded.add(caller, 1);
      countForMinute(proceededIn, bucket);
      countForMinute(proceededIn, requester);
      return true;
    },
  };
}

/** The keys of a bucket and of a requester. A service that names its requesters has its own of both. */
function keysOf(captchaId: string, { name, isService }: Holder, { kind, id }: Requester) {
  const scope = isService ? `service ${name}` : 'router';
  return { bucket: `bucket ${scope} ${captchaId} ${kind}`, requester: `${kind} ${scope} ${id}` };
}

function withinHour(minutes: readonly Minute[], end: number): Minute[] {
  return minutes.filter(({ startedAt }) => end - startedAt < HOUR_MS);
}

function countForMinute(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
  const forget = () => {
    const left = (counts.get(key) ?? 1) - 1;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  };
  setTimeout(forget, MINUTE_MS).unref();
}
