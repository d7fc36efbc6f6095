import { ERROR_CATALOGUE } from '../errors.ts';
import { RequestRefused } from './refusal.ts';

/** Tells when this process has more to do than it gets done. */
export interface Pressure {
  /** Should new work be turned away? Costs nothing to ask. */
  readonly isTooHigh: () => boolean;
  stop(): void;
}

/** How often the delay is looked at, in ms: short enough to turn work away before much of it has piled up. */
const LOOK_EVERY_MS = 50;

/**
 * Watches how late the event loop runs. Above `maxDelayMs` twice in a row it is behind with what it has; once may be a
 * collection of garbage, or a start.
 */
export function watchEventLoop(maxDelayMs: number): Pressure {
  let wasHigh = false;
  let tooHigh = false;
  let last = performance.now();
  const isLate = (now: number) => now - last - LOOK_EVERY_MS > maxDelayMs;
  // How late this timer is itself. Node's histogram of delays forgets where it was when it is reset, and so does not see
  // the turn after a look, which under overload is every turn.
  const timer = setInterval(() => {
    const now = performance.now();
    const isHigh = isLate(now);
    last = now;
    tooHigh = isHigh && wasHigh;
    wasHigh = isHigh;
  }, LOOK_EVERY_MS);
  timer.unref();
  // A second long turn is not waited for: what comes late in it is turned away at once.
  return { isTooHigh: () => tooHigh || (wasHigh && isLate(performance.now())), stop: () => clearInterval(timer) };
}

/** @throws RequestRefused with status 503 if the pressure is too high */
export function refuseUnderPressure({ isTooHigh }: Pick<Pressure, 'isTooHigh'>): void {
  if (!isTooHigh()) return;
  throw new RequestRefused(503, ERROR_CATALOGUE.OVERLOADED.message, { 'retry-after': '1' }, 'OVERLOADED');
}
