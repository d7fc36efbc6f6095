/** An operation that takes this long always writes a line, in ms. It is the time of the latency objective. */
const SLOW_MS = 2_000;

/** With any other outcome somebody was refused, or let through without a verdict. */
const GOOD_OUTCOMES: ReadonlySet<string> = new Set(['DeviceFingerprint', 'DeviceJudgement', 'CaptchaPassed']);

/**
 * Is this an operation that nobody will look for, so that a sample of its kind is enough? It has no error, was quick, and has
 * usual outcomes alone.
 */
export function isGood(errors: readonly string[], ms: number, outcomes: Readonly<Record<string, number>>): boolean {
  if (errors.length > 0 || ms >= SLOW_MS) return false;
  for (const outcome in outcomes) if (!GOOD_OUTCOMES.has(outcome)) return false;
  return true;
}
