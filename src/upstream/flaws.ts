import type { z } from 'zod';

/** Where a body is not as documented, for the log. Paths and kinds of mistake only: what was received may be personal data. */
export function flawsIn(error: z.ZodError | undefined): string | undefined {
  return error?.issues.map(({ path, code }) => `${path.join('.') || 'body'}: ${code}`).join('; ');
}
