/**
 * What is known about an account:
 * - `unknown`: no probe has shown anything yet, or the last one was inconclusive.
 * - `well`: its last answer was documented and did not blame us.
 * - `refused`: the service refuses the account, or its address or certificate is wrong.
 * - `outage`: our own probes have confirmed that the service is down.
 */
export const HEALTH_STATES = ['unknown', 'well', 'refused', 'outage'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** The health of an account at one moment. */
export interface Finding {
  readonly state: HealthState;
  /** Has the account worked in this process? One that never did is wrongly configured, whatever its failures look like. */
  readonly hasWorked: boolean;
  /** Why it is refused or down, for the log. It is the code of the exception if the service refuses with one. */
  readonly reason: string;
}
