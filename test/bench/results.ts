import type { Costs } from './closed-loop.ts';
import type { Environment } from './environment.ts';
import type { FirstRequests } from './first-request.ts';
import type { AddedLatency } from './paced-load.ts';
import type { Replicas } from './replicas.ts';
import type { Memory } from './warm-up.ts';

/** Everything that one run measured. What was not asked for is left out. */
export interface Results {
  readonly environment: Environment;
  readonly run: {
    readonly seed: number;
    /** How often each series was measured, and for how long each time, in ms. */
    readonly rounds: number;
    readonly roundMs: number;
    readonly loadAfter: number;
  };
  /** By group, then series. */
  readonly closed: Readonly<Record<string, Costs>>;
  readonly firstRequests?: FirstRequests;
  readonly replicas?: Replicas;
  /** By contender, as are all below. */
  readonly latency?: Readonly<Record<string, AddedLatency>>;
  /** From spawning to the first answer, in ms. */
  readonly coldStart?: Readonly<Record<string, number>>;
  readonly memory?: Readonly<Record<string, Memory>>;
}
