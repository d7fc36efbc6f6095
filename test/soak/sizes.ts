/** How long each situation lasts. All in ms. */
export interface Sizes {
  /** Everything together; a run that takes longer is a failed one. */
  readonly limit: number;
  /** Load before anything is measured, as V8 optimises what it has seen. */
  readonly warmUp: number;
  /** Load that a server can bear, for the figures that others are compared with. */
  readonly calm: number;
  readonly overload: number;
  readonly outage: number;
  readonly recovery: number;
  /** SHUTDOWN_GRACE_MS of the replicas. */
  readonly grace: number;
  readonly afterKill: number;
  /** As much load as 32 connections make, before the heap is looked at. */
  readonly settle: number;
  readonly steady: number;
  /** Between two looks at the heap, each after a full collection. */
  readonly betweenCollections: number;
  readonly cpuOverload: number;
  /** An outage that everybody notices, in which it matters who proceeds. */
  readonly confirmed: number;
  /** How long the bot attacks services that are well. */
  readonly bot: number;
}

const FULL: Sizes = {
  limit: 360_000,
  warmUp: 2_000,
  calm: 2_500,
  overload: 8_000,
  outage: 11_000,
  recovery: 4_000,
  grace: 2_000,
  afterKill: 3_000,
  settle: 6_000,
  steady: 60_000,
  betweenCollections: 2_000,
  cpuOverload: 5_000,
  confirmed: 8_000,
  bot: 17_000,
};
const QUICK: Sizes = {
  ...FULL,
  limit: 240_000,
  warmUp: 800,
  calm: 1_500,
  overload: 4_000,
  outage: 10_000,
  recovery: 3_500,
  afterKill: 1_500,
  steady: 20_000,
  betweenCollections: 1_000,
  cpuOverload: 3_000,
  confirmed: 6_000,
  bot: 5_000,
};
const SMOKE: Sizes = {
  limit: 30_000,
  warmUp: 100,
  calm: 200,
  overload: 300,
  outage: 2_300,
  recovery: 1_800,
  grace: 200,
  afterKill: 300,
  settle: 100,
  steady: 900,
  betweenCollections: 100,
  cpuOverload: 400,
  confirmed: 4_000,
  bot: 1_000,
};

export const SIZES = { full: FULL, quick: QUICK, smoke: SMOKE };
