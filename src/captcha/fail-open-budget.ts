import type { Requester } from '../graphql/caller.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** In a minute of an outage, this multiple of the busiest minute's verified passes may proceed. */
const FACTOR = 2;
/** The number that may proceed in any case, once per process and for all captcha ids together. */
const MINIMUM = 10;

/** The captchas of one requester that may count or proceed in a minute. */
const PER_MINUTE: Readonly<Record<Requester['kind'], number>> = {
  person: 3,
  network: 12,
  anonymous: Number.POSITIVE_INFINITY,
  untracked: Number.POSITIVE_INFINITY,
};

/** The verified passes of one minute, which begins with the first of them. */
interface Minute {
  readonly startedAt: number;
  passes: number;
  /** The same by requester, as long as the minute lasts. */
  readonly byRequester: Map<string, number>;
}

/**
 * Limits the captchas that proceed while their service is down. The limit follows verified passes, so a
 * bot has to solve challenges. Each kind has its own bucket, because accounts cost a bot more than networks, and networks
 * more than anonymity. Counts outlast an outage, so a service that flaps lets no more through.
 */
export class FailOpenBudget {
  /** The minutes with passes of the last hour, by bucket. */
  readonly #minutes = new Map<string, Minute[]>();
  /** The number that proceeded within the last minute, by bucket. */
  readonly #proceededIn = new Map<string, number>();
  /** The same by requester. */
  readonly #proceededOf = new Map<string, number>();
  #proceeded = 0;

  /** Records a verified pass of a requester; `now` is on a clock that stands still in an outage of the id, in ms. */
  recordPass(captchaId: string, requester: Requester, now: number): void {
    const bucket = bucketOf(captchaId, requester);
    const minutes = this.#minutes.get(bucket) ?? [];
    let minute = minutes.at(-1);
    if (!minute || now - minute.startedAt >= MINUTE_MS) {
      minute?.byRequester.clear();
      minute = { startedAt: now, passes: 0, byRequester: new Map() };
      this.#minutes.set(bucket, [...withinHour(minutes, now), minute]);
    }
    const own = minute.byRequester.get(keyOf(requester)) ?? 0;
    if (own >= PER_MINUTE[requester.kind]) return;
    minute.byRequester.set(keyOf(requester), own + 1);
    minute.passes += 1;
  }

  /** May one more captcha proceed? If so it is counted. For `now` see `recordPass`. */
  take(captchaId: string, requester: Requester, now: number): boolean {
    if ((this.#proceededOf.get(keyOf(requester)) ?? 0) >= PER_MINUTE[requester.kind]) return false;
    const bucket = bucketOf(captchaId, requester);
    const busiest = Math.max(0, ...withinHour(this.#minutes.get(bucket) ?? [], now).map(({ passes }) => passes));
    const isWithinMinimum = this.#proceeded < MINIMUM && requester.kind !== 'anonymous';
    if (!isWithinMinimum && (this.#proceededIn.get(bucket) ?? 0) >= FACTOR * busiest) return false;
    this.#proceeded += 1;
    countForMinute(this.#proceededIn, bucket);
    countForMinute(this.#proceededOf, keyOf(requester));
    return true;
  }
}

function bucketOf(captchaId: string, { kind }: Requester): string {
  return `${captchaId} ${kind}`;
}

function keyOf({ kind, id }: Requester): string {
  return `${kind} ${id}`;
}

function withinHour(minutes: readonly Minute[], now: number): Minute[] {
  return minutes.filter(({ startedAt }) => now - startedAt < HOUR_MS);
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
