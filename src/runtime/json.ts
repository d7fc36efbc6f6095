import { parse } from 'secure-json-parse';
import type { z } from 'zod';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes UTF-8; undefined if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON; undefined if the text is not JSON. The parser's error is not passed on, because it quotes the text. Keys that
 * could reach an object's prototype are left out: `__proto__`, and `constructor` with a `prototype` in it.
 */
export function parseJson(text: string): unknown {
  try {
    return parse(text, null, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    return undefined;
  }
}

/** Is this JSON value an object, and no list? */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The deepest nesting of a free-form object: serialising is recursive, so a deeper one could overflow the stack. */
const MAX_NESTING = 32;

/** Does a JSON value nest objects and arrays more than 32 levels deep? The check itself goes no deeper than that. */
export function nestsTooDeep(value: unknown, levelsLeft = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levelsLeft === 0 || Object.values(value).some((inner) => nestsTooDeep(inner, levelsLeft - 1));
}

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
