/**
 * Loaded into a process before its own code. SIGUSR2 sets its wall clock back by 20 s, and the next one sets it forward again by
 * 40 s. The monotonic clock stays as it is, as when somebody sets the clock of a machine.
 */

const STEP_MS = 20_000;
const { now } = Date;
let shiftMs = 0;

Date.now = () => now() + shiftMs;
process.on('SIGUSR2', () => {
  shiftMs = shiftMs < 0 ? STEP_MS : -STEP_MS;
  process.stdout.write(`clock shifted by ${shiftMs} ms\n`);
});
