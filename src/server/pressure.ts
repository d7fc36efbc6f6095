import { ERROR_CATALOGUE } from '../errors.ts';
import { RequestRefused } from './refusal.ts';

/** Tells when this process has more to do than it gets done. */
export interface Pressure {
  /** Should new work be turned away? Costs nothing to ask. */
  readonly isTooHigh: () => boolean;
}

/** @throws RequestRefused with status 503 if the pressure is too high */
export function refuseUnderPressure({ isTooHigh }: Pressure): void {
  if (!isTooHigh()) return;
  throw new RequestRefused(503, ERROR_CATALOGUE.OVERLOADED.message, { 'retry-after': '1' }, 'OVERLOADED');
}
