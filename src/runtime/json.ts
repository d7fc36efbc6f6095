import { parse } from 'secure-json-parse';
import type { z } from 'zod';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** An escaped surrogate, alone or with its partner, after the escaped backslashes before it. */
const SURROGATE =
  /(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2})/g;

/**
 * Parses JSON in UTF-8, or returns undefined: the parser's error quotes the text. Keys that could reach a prototype are
 * left out, and a lone surrogate becomes U+FFFD, because routers refuse an answer with one.
 */
export function parseJson(json: string | Uint8Array): unknown {
  try {
    const given = typeof json === 'string' ? json : utf8.decode(json);
    const text = given.includes('\\u')
      ? given.replace(SURROGATE, (all, before, pair) => (pair ? all : `${before}\\ufffd`))
      : given;
    return parse(text, null, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    return undefined;
  }
}

const STRING_OR_BOUND = /("(?:[^"\\]|\\.)*")\s*(:)?|[{}]/g;

/** Reads JSON of a person, with the keys that repeat in an object. @throws SyntaxError, whose message quotes it */
export function readJson(text: string): { readonly json: unknown; readonly repeatedKeys: readonly string[] } {
  const json: unknown = JSON.parse(text);
  const repeatedKeys: string[] = [];
  const open: Set<string>[] = [];
  for (const [token, string = '', colon] of text.matchAll(STRING_OR_BOUND)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon) {
      const key = String(JSON.parse(string));
      const keys = open.at(-1);
      if (keys?.has(key)) repeatedKeys.push(key);
      keys?.add(key);
    }
  }
  return { json, repeatedKeys };
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
