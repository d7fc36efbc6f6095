import { DeviceTrustError } from '../errors.ts';

/** How often one call is let through in an outage and in a pause, in ms, as a half-open circuit breaker does. */
const HALF_OPEN_INTERVAL_MS = 1_000;

/** Which calls of one account are sent. The others are refused at once, so that nobody waits. */
export class Admission {
  readonly #isDown: () => boolean;
  /* Moments on the clock of `performance.now()`. */
  #pausedUntil = 0;
  #respondedAt = Number.NEGATIVE_INFINITY;
  #nextHalfOpenAt = 0;

  constructor(isDown: () => boolean) {
    this.#isDown = isDown;
  }

  /**
   * Admits a call. In an outage and in a pause one a second is admitted: a service may refuse nothing but our probes.
   *
   * @param canBeSent does no limit of our own keep this call from the service? Otherwise it would show nothing.
   * @returns is it the half-open call of this second?
   * @throws DeviceTrustError UPSTREAM_UNAVAILABLE because of an `outage` or a `pause`
   */
  admit(canBeSent = true): boolean {
    const now = performance.now();
    const isDown = this.#isDown();
    if (!isDown && now >= this.#pausedUntil) return false;
    if (!canBeSent || now < this.#nextHalfOpenAt) {
      const why = isDown ? 'outage' : 'pause';
      throw new DeviceTrustError('UPSTREAM_UNAVAILABLE', { why, internal: REASONS[why] });
    }
    this.#nextHalfOpenAt = now + HALF_OPEN_INTERVAL_MS;
    return true;
  }

  /** Admits another half-open call at once, because the last one had no chance of showing that the service is well. */
  halfOpenAgain(): void {
    this.#nextHalfOpenAt = 0;
  }

  /**
   * Pauses the account for so long, in ms, after a 429. Not if it responded within the last second, because then the service does not
   * limit the account, but what one caller sends.
   */
  pause(ms: number): void {
    const now = performance.now();
    if (now < this.#respondedAt + HALF_OPEN_INTERVAL_MS) return;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#nextHalfOpenAt = now + HALF_OPEN_INTERVAL_MS;
  }

  /** Ends a pause, because the account has responded. */
  settle(): void {
    this.#pausedUntil = 0;
    this.#respondedAt = performance.now();
  }
}

const REASONS = {
  outage: 'the service is down, as probes have confirmed',
  pause: 'account is paused, because the service answered 429',
};
