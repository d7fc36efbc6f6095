import type { HealthState } from '../observability/metrics.ts';

/** The health of an account at one moment. */
export interface Finding {
  readonly state: HealthState;
  /** Has the account worked in this process? One that never did is wrongly configured, whatever its failures look like. */
  readonly hasWorked: boolean;
  /** Why it is refused or down, for the log. It is the code of the exception if the service refuses with one. */
  readonly reason: string;
}
