import type { Costs } from './closed-loop.ts';
import type { Environment } from './environment.ts';
import type { AddedLatency } from './paced-load.ts';
import type { Memory } from './warm-up.ts';

/** Everything that one run measured. What was not asked for is left out. */
export interface Results {
  readonly environment: Environment;
  /** By workload, then contender. */
  readonly closed: Readonly<Record<string, Costs>>;
  /** By number of references, then contender. */
  readonly growth?: Readonly<Record<string, Costs>>;
  /** By contender, as are all below. */
  readonly latency?: Readonly<Record<string, AddedLatency>>;
  /** From spawning to the first answer, in ms. */
  readonly coldStart?: Readonly<Record<string, number>>;
  readonly memory?: Readonly<Record<string, Memory>>;
}
