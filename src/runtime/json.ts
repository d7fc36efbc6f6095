/** Free-form objects deeper than this are refused: serialising is recursive, and a deep enough one overflows the stack. */
const MAX_NESTING = 32;

/** Does a JSON value nest objects and arrays more than 32 levels deep? Looks no deeper than that itself. */
export function nestsTooDeep(value: unknown, allowance = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return allowance === 0 || Object.values(value).some((inner) => nestsTooDeep(inner, allowance - 1));
}
