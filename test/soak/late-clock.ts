/** Loaded into a server with `--import`: its clock is late. */

const LATE_MS = 6_000;
const { now } = Date;
Date.now = () => now() - LATE_MS;
