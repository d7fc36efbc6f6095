import { parse } from 'secure-json-parse';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of these bytes; undefined if they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The value of a JSON text, without the keys that could reach an object's prototype (`__proto__`, `constructor` with a
 * `prototype`); undefined if the text is not JSON. The parser's own error is left out, because it quotes the text.
 */
export function parseJson(text: string): unknown {
  try {
    return parse(text, null, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    return undefined;
  }
}

/** Free-form objects deeper than this are refused: serialising is recursive, and a deep enough one overflows the stack. */
const MAX_NESTING = 32;

/** Does a JSON value nest objects and arrays more than 32 levels deep? Looks no deeper than that itself. */
export function nestsTooDeep(value: unknown, allowance = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return allowance === 0 || Object.values(value).some((inner) => nestsTooDeep(inner, allowance - 1));
}
