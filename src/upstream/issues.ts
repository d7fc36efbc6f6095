import type { z } from 'zod';

/** More flaws than this say no more; a list may have one in each of its entries. */
const MAX_FLAWS = 5;

/** Where a body is not as documented, for the log. Paths and kinds of mistake only: what was received may be personal data. */
export function flawsIn(error: z.ZodError | undefined): string | undefined {
  if (!error) return undefined;
  const { issues } = error;
  const shown = issues.slice(0, MAX_FLAWS).map(({ path, code }) => `${path.join('.') || 'body'}: ${code}`);
  const rest = issues.length - shown.length;
  return [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}
