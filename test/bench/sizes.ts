/** How much a run measures. Times are in ms. */
export interface Size {
  /** Load on each contender before its CPU is measured. */
  readonly firstWarmUpMs: number;
  /** As many requests at least, if the machine is not too busy. */
  readonly warmRequests: number;
  /** Load before the first round of a series, before each round, and during it. */
  readonly warmUpMs: number;
  readonly rewarmMs: number;
  readonly roundMs: number;
  readonly rounds: number;
  /** Rounds of paced load, and how long each takes: one pause of 10 ms must stay below the 1 % that p99 is about. */
  readonly pacedMs: number;
  readonly pacedRounds: number;
  readonly starts: number;
}

const FULL: Size = {
  firstWarmUpMs: 7_200,
  warmRequests: 30_000,
  warmUpMs: 400,
  rewarmMs: 30,
  roundMs: 150,
  rounds: 41,
  pacedMs: 1_200,
  pacedRounds: 3,
  starts: 7,
};
const QUICK: Size = {
  firstWarmUpMs: 2_400,
  warmRequests: 20_000,
  warmUpMs: 150,
  rewarmMs: 15,
  roundMs: 150,
  rounds: 25,
  pacedMs: 200,
  pacedRounds: 3,
  starts: 2,
};
const SMOKE: Size = {
  firstWarmUpMs: 120,
  warmRequests: 0,
  warmUpMs: 0,
  rewarmMs: 20,
  roundMs: 80,
  rounds: 1,
  pacedMs: 100,
  pacedRounds: 1,
  starts: 1,
};

export const SIZES = { full: FULL, quick: QUICK, smoke: SMOKE };
