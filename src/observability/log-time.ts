let second = 0;
let upToSecond = '';

/** The time of a line of the log, as pino wants it and `toISOString()` has it, which is asked for once a second. */
export function isoTime(): string {
  const now = Date.now();
  const milliseconds = now % 1_000;
  if (now - milliseconds !== second) {
    second = now - milliseconds;
    upToSecond = new Date(second).toISOString().slice(0, -4);
  }
  return `,"time":"${upToSecond}${String(milliseconds).padStart(3, '0')}Z"`;
}
