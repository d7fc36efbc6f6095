import type { z } from 'zod';

/** Only this many issues are named, because a long list can have one in each of its entries. */
const MAX_ISSUES = 5;

/**
 * Where a body differs from its contract, for the log; undefined without an error. It names paths and kinds of issue,
 * and no value: what was received may be personal data.
 */
export function describeIssues(error: z.ZodError | undefined): string | undefined {
  if (!error) return undefined;
  const { issues } = error;
  const shown = issues.slice(0, MAX_ISSUES).map(({ path, code }) => `${path.join('.') || 'body'}: ${code}`);
  const rest = issues.length - shown.length;
  return [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}
