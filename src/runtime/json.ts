import { parse } from 'secure-json-parse';
import type { z } from 'zod';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** An escaped surrogate, alone or with its partner, after the escaped backslashes before it. */
const SURROGATE =
  /(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2})/g;

/**
 * Parses JSON in UTF-8, or returns undefined: the parser's error quotes the text. An object with a key twice is none, because it says
 * two things (RFC 8259, section 4). Keys that could reach a prototype are left out, and a lone surrogate becomes U+FFFD, because routers
 * refuse an answer with one.
 */
export function parseJson(json: string | Uint8Array): unknown {
  try {
    const given = typeof json === 'string' ? json : utf8.decode(json);
    const text = given.includes('\\u')
      ? given.replace(SURROGATE, (all, before, pair) => (pair ? all : `${before}\\ufffd`))
      : given;
    const parsed: unknown = parse(text, null, { protoAction: 'remove', constructorAction: 'remove' });
    return repeatedKeysIn(text).length > 0 ? undefined : parsed;
  } catch {
    return undefined;
  }
}

/** Reads JSON of a person, with the keys that repeat in an object. @throws SyntaxError, whose message quotes it */
export function readJson(text: string): { readonly json: unknown; readonly repeatedKeys: readonly string[] } {
  return { json: JSON.parse(text), repeatedKeys: repeatedKeysIn(text) };
}

const [QUOTE, BACKSLASH, COLON, OPEN, CLOSE] = ['"', '\\', ':', '{', '}'].map((character) => character.charCodeAt(0));

/** The keys of one object. A list is quicker for a few, as nearly all objects have. */
type Keys = string[] | Set<string>;
const FEW_KEYS = 16;

/** The keys that stand again in an object of valid JSON: a parser takes the last one, and the first is gone without a word. */
function repeatedKeysIn(json: string): string[] {
  const repeated: string[] = [];
  const outer: (Keys | undefined)[] = [];
  let keys: Keys | undefined;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === OPEN) {
      outer.push(keys);
      keys = [];
    } else if (code === CLOSE) keys = outer.pop();
    else if (code === QUOTE) {
      const begin = at;
      at = endOfText(json, begin);
      let next = at + 1;
      while (json.charCodeAt(next) <= 0x20) next += 1;
      if (json.charCodeAt(next) !== COLON || !keys) continue;
      const written = json.slice(begin + 1, at);
      const key = written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written;
      if (Array.isArray(keys) ? keys.includes(key) : keys.has(key)) repeated.push(key);
      if (!Array.isArray(keys)) keys.add(key);
      else if (keys.push(key) > FEW_KEYS) keys = new Set(keys);
    }
  }
  return repeated;
}

/** Where the text that begins here ends: at a quote after an even number of backslashes. */
function endOfText(json: string, begin: number): number {
  for (let end = json.indexOf('"', begin + 1); ; end = json.indexOf('"', end + 1)) {
    let before = end - 1;
    while (json.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
}

/** For each byte, 1 if it is a character that stands before a value or a key. */
const STANDS_BEFORE = Uint8Array.from({ length: 256 }, (_, byte) => Number('[{:,'.includes(String.fromCharCode(byte))));

/** How many values and keys a JSON text has at most, by the characters before them, which its texts can have as well. */
export function countValues(json: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < json.length; at += 1) count += STANDS_BEFORE[json[at] ?? 0] ?? 0;
  return count;
}

/** Is this JSON value an object, and no list? */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The properties of a value that can be anything; none if it is no object. */
export function propertiesOf(value: unknown): Readonly<Record<string, unknown>> {
  // Sound: any property of an object can be read.
  return (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
}

/** The deepest nesting of a free-form object: serialising is recursive, so a deeper one could overflow the stack. */
const MAX_NESTING = 32;

/** Does a JSON value nest objects and arrays more than 32 levels deep? The check itself goes no deeper than that. */
export function nestsTooDeep(value: unknown, levelsLeft = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levelsLeft === 0 || Object.values(value).some((inner) => nestsTooDeep(inner, levelsLeft - 1));
}

/** The values in a JSON value of any depth, plus the weight of each text and key. It stops counting beyond `most`. */
export function sizeOf(value: unknown, weigh: (text: string) => number, most = Number.POSITIVE_INFINITY): number {
  let size = 0;
  const open = [value];
  while (open.length > 0 && size <= most) {
    const next = open.pop();
    size += 1;
    if (typeof next === 'string') size += weigh(next);
    else if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isObject(next)) {
      for (const key in next) {
        size += weigh(key);
        open.push(next[key]);
      }
    }
  }
  return size;
}

/** The bytes of a value as JSON; infinite, without writing it, if it nests too deep or is far larger than `most`. */
export function jsonBytes(value: unknown, most: number): number {
  const least = typeof value === 'string' ? value.length : sizeOf(value, ({ length }) => length, most);
  if (least > most || nestsTooDeep(value)) return Number.POSITIVE_INFINITY;
  return Buffer.byteLength(JSON.stringify(value));
}

/** Two to ten plain words that a service says, for the log; else empty: one word or anything else may be personal. */
export function saidIn(message: unknown): string {
  const isPlain = typeof message === 'string' && /^[a-z_'.,]{1,20}( [a-z_'.,]{1,20}){1,9}$/i.test(message);
  return isPlain ? `: ${message}` : '';
}

/** Where a body differs from its contract, for the log: paths and kinds of issue, no value; undefined without one. */
export function describeIssues(error: z.ZodError | undefined): string | undefined {
  return error?.issues.map(({ path, code }) => `${path.join('.') || 'body'}: ${code}`).join('; ');
}
