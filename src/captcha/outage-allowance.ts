const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** So many times the verified passes of the busiest minute may proceed in a minute of an outage. */
const FACTOR = 2;
/** So many may proceed in any case, once per process and for all captcha ids together. */
const MINIMUM = 10;
/** So many of one minute one person gets. */
const MAX_PER_PERSON = 3;

/** The verified passes of one minute, which begins with the first of them. */
interface Minute {
  readonly startedAt: number;
  passes: number;
}

/**
 * How many captchas may proceed without a verdict while their service is down: as many as people come. Only what the service
 * has verified counts as people, so a bot has to solve challenges to get more. What proceeds is remembered whether or not the
 * outage goes on, so one that comes and goes lets no more through than one that stays.
 */
export class OutageAllowance {
  /** The minutes with passes of the last hour, by captcha id. */
  readonly #minutes = new Map<string, Minute[]>();
  /** What proceeded within the last minute, by captcha id. */
  readonly #proceededFor = new Map<string, number>();
  /** The same by person. */
  readonly #proceededOf = new Map<string, number>();
  #proceeded = 0;

  /**
   * Records that a person was verified.
   *
   * @param now on a clock that stands still in an outage of the captcha id, in ms
   */
  recordPass(captchaId: string, now: number): void {
    const minutes = this.#minutes.get(captchaId) ?? [];
    const last = minutes.at(-1);
    if (last && now - last.startedAt < MINUTE_MS) last.passes += 1;
    else this.#minutes.set(captchaId, [...withinHour(minutes, now), { startedAt: now, passes: 1 }]);
  }

  /**
   * May one more captcha proceed? If so it is counted.
   *
   * @param now see `recordPass`
   * @param person undefined if nobody knows who asks; then only the limit of all applies
   */
  take(captchaId: string, now: number, person: string | undefined): boolean {
    if (person !== undefined && (this.#proceededOf.get(person) ?? 0) >= MAX_PER_PERSON) return false;
    const busiest = Math.max(0, ...withinHour(this.#minutes.get(captchaId) ?? [], now).map(({ passes }) => passes));
    const hasRoom = (this.#proceededFor.get(captchaId) ?? 0) < FACTOR * busiest || this.#proceeded < MINIMUM;
    if (!hasRoom) return false;
    this.#proceeded += 1;
    countForMinute(this.#proceededFor, captchaId);
    if (person !== undefined) countForMinute(this.#proceededOf, person);
    return true;
  }
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
