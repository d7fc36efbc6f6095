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
    const parsed: unknown = JSON.parse(text);
    // Nearly always as many, which needs no second look.
    const isEachKeptOnce = withoutPrototypes(parsed) === quotesBeforeColons(text);
    return isEachKeptOnce || repeatedKeysIn(text).length === 0 ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Reads JSON of a person, with the keys that repeat in an object. @throws SyntaxError, whose message quotes it */
export function readJson(text: string): { readonly json: unknown; readonly repeatedKeys: readonly string[] } {
  return { json: JSON.parse(text), repeatedKeys: repeatedKeysIn(text) };
}

/** Takes out the keys of a JSON value that could reach a prototype, and counts all that it had. */
function withoutPrototypes(value: unknown): number {
  let keys = 0;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isObject(next)) {
      for (const key in next) {
        keys += 1;
        const inner = next[key];
        if (key === '__proto__' || (key === 'constructor' && isObject(inner) && Object.hasOwn(inner, 'prototype')))
          delete next[key];
        else if (typeof inner === 'object') open.push(inner);
      }
    }
  }
  return keys;
}

/** The keys in a JSON text, each as often as it stands there, and the texts that begin with a colon. */
function quotesBeforeColons(json: string): number {
  let count = 0;
  for (let at = json.indexOf(':'); at >= 0; at = json.indexOf(':', at + 1)) {
    let before = at - 1;
    while (json.charCodeAt(before) <= 0x20) before -= 1;
    if (json.charCodeAt(before) === QUOTE) count += 1;
  }
  return count;
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

const lengthOf = (text: string): number => text.length;

/**
 * The values in a JSON value of any depth, plus the lengths of its texts and keys in units of as many characters. It stops counting
 * beyond `most`.
 */
export function sizeOf(
  value: unknown,
  charactersPerUnit: number,
  most = Number.POSITIVE_INFINITY,
  measure = lengthOf,
): number {
  let values = 0;
  let characters = 0;
  const open = [value];
  while (open.length > 0 && values + characters / charactersPerUnit <= most) {
    const next = open.pop();
    values += 1;
    if (typeof next === 'string') characters += measure(next);
    else if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isObject(next)) {
      for (const key in next) {
        const inner = next[key];
        characters += measure(key);
        // Most are texts, which need not wait.
        if (typeof inner !== 'string') open.push(inner);
        else {
          values += 1;
          characters += measure(inner);
        }
      }
    }
  }
  return values + characters / charactersPerUnit;
}

/** The bytes of a value as JSON; infinite, without writing it, if it nests too deep or is far larger than `most`. */
export function jsonBytes(value: unknown, most: number): number {
  const least = typeof value === 'string' ? value.length : sizeOf(value, 1, most);
  if (least > most || nestsTooDeep(value)) return Number.POSITIVE_INFINITY;
  return Buffer.byteLength(JSON.stringify(value));
}

/** Two to ten plain words that a service says, for the log; else empty: one word or anything else may be personal. */
export function loggableMessage(message: unknown): string {
  const isPlain = typeof message === 'string' && /^[a-z_'.,]{1,20}( [a-z_'.,]{1,20}){1,9}$/i.test(message);
  return isPlain ? `: ${message}` : '';
}

/** Where a body differs from its contract, for the log: paths and kinds of issue, no value; undefined without one. */
export function describeIssues(error: z.ZodError | undefined): string | undefined {
  return error?.issues.map(({ path, code }) => `${path.join('.') || 'body'}: ${code}`).join('; ');
}
