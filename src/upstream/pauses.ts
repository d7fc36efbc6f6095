import { DeviceTrustError } from '../errors.ts';

/** The shortest and the longest pause, in ms. The shortest one also follows a 429 without a usable `Retry-After`. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/** The call was not sent, because its account is paused. This is no fault of the service, so it raises no doubt about it. */
export class AccountPausedError extends DeviceTrustError {
  constructor() {
    super('UPSTREAM_UNAVAILABLE', { internal: 'account is paused, because the service answered 429' });
    this.name = 'AccountPausedError';
  }
}

/** The accounts to which a service has answered 429: nothing is sent for them until their pause is over. */
export class Pauses {
  /** Monotonic time at which each pause ends, in ms. */
  readonly #ends = new Map<string, number>();

  /** @throws AccountPausedError while this account is paused */
  check(account: string): void {
    // This is the case of almost every call, and costs no look at the clock.
    if (this.#ends.size === 0) return;
    const end = this.#ends.get(account);
    if (end === undefined) return;
    if (performance.now() < end) throw new AccountPausedError();
    this.#ends.delete(account);
  }

  /**
   * Pauses an account. A pause is never shortened by a later 429.
   *
   * @param retryAfter the header `Retry-After` of the 429
   */
  pause(account: string, retryAfter: string | undefined): void {
    const now = performance.now();
    // A rotation can remove an account, and then nothing else would remove its pause.
    for (const [other, end] of this.#ends) if (end <= now) this.#ends.delete(other);
    this.#ends.set(account, Math.max(this.#ends.get(account) ?? 0, now + pauseMs(retryAfter)));
  }
}

/** The pause that a `Retry-After` asks for, in ms and within our bounds. It has seconds or a date (RFC 9110, 10.2.3). */
export function pauseMs(retryAfter: string | undefined): number {
  const text = retryAfter?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : msUntil(text);
  return Math.min(Math.max(ms, MIN_PAUSE_MS), MAX_PAUSE_MS);
}

/** The time until an HTTP date (RFC 9110, 5.6.7), in ms; 0 for any other text. */
function msUntil(text: string): number {
  // Every form begins with a weekday. `Date.parse` alone would also take `1.5` for a date.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return 0;
  // The form of asctime has no zone, but means GMT.
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(time) ? 0 : time - Date.now();
}
