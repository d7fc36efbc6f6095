import type { z } from 'zod';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses JSON in UTF-8. Returns undefined for other texts, because the parser's error would quote them, and for an object that
 * repeats a key, which is ambiguous (RFC 8259, section 4). A key such as `__proto__` is a property like any other, so objects are
 * copied by entries or by spreading: an assignment would replace the prototype.
 */
export function parseJson(
  json: string | Uint8Array,
  maxLevels = Number.POSITIVE_INFINITY,
  prepare = (text: string) => text,
): unknown {
  try {
    const given = typeof json === 'string' ? json : utf8.decode(json);
    const text = given.includes('\\u') ? prepare(given) : given;
    const parsed: unknown = JSON.parse(text);
    return isTrueTo(text, parsed, maxLevels) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The deepest nesting of a service's answer: writing JSON is recursive, and some 5,000 levels overflow the stack. */
const MAX_LEVELS = 64;

/** An escaped surrogate, alone or with its partner, after the escaped backslashes before it. */
const SURROGATE =
  /(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2})/g;

/** Parses a service's answer, up to `MAX_LEVELS`. A lone surrogate becomes U+FFFD, because routers refuse surrogates. */
export function parseAnswer(bytes: Uint8Array): unknown {
  return parseJson(bytes, MAX_LEVELS, (text) =>
    text.replace(SURROGATE, (all, before, pair) => (pair ? all : `${before}\\ufffd`)),
  );
}

/** Reads JSON that a person wrote, with the keys that repeat in an object. @throws SyntaxError, whose message quotes the text */
export function readJson(text: string): { readonly json: unknown; readonly repeatedKeys: readonly string[] } {
  const json: unknown = JSON.parse(text);
  return { json, repeatedKeys: keysIn(text).flatMap((keys) => keys.filter((key, at) => keys.indexOf(key) < at)) };
}

/**
 * Does this value have every key of its text exactly once, and no more levels than allowed? A parser silently keeps the last of two
 * equal keys. And V8 14.6 can return a wrong key if the key is escaped and an earlier text had a similar key; the wrong key contains a backslash.
 */
function isTrueTo(text: string, parsed: unknown, maxLevels: number): boolean {
  const mayBeMisread = text.includes('\\');
  let keys = 0;
  const levels = forEachKey(parsed, (key) => {
    // NaN differs from every count, so that the keys themselves are compared.
    keys += mayBeMisread && key.includes('\\') ? Number.NaN : 1;
  });
  // The counts are nearly always equal, and then no key repeats.
  return levels <= maxLevels && (keys === quotesBeforeColons(text) || hasKeysOf(text, parsed));
}

/** Does each key occur as often in the value as in its text? */
function hasKeysOf(text: string, parsed: unknown): boolean {
  const missing = new Map<string, number>();
  for (const key of keysIn(text).flat()) missing.set(key, (missing.get(key) ?? 0) + 1);
  forEachKey(parsed, (key) => missing.set(key, (missing.get(key) ?? 0) - 1));
  return [...missing.values()].every((count) => count === 0);
}

/** Visits the keys of all objects in a JSON value of any depth, level by level. Returns the number of levels. */
function forEachKey(value: unknown, visit: (key: string) => void): number {
  let levels = 0;
  for (let level = [value]; level.length > 0; levels += 1) {
    const below: unknown[] = [];
    for (const one of level) {
      if (Array.isArray(one)) {
        for (const item of one) if (typeof item === 'object') below.push(item);
      } else if (isObject(one)) {
        for (const key in one) {
          visit(key);
          if (typeof one[key] === 'object') below.push(one[key]);
        }
      }
    }
    level = below;
  }
  return levels;
}

/** Counts the quotes before colons: every key, plus each text that starts with `:`. */
function quotesBeforeColons(json: string): number {
  let count = 0;
  for (let at = json.indexOf(':'); at >= 0; at = json.indexOf(':', at + 1)) {
    let before = at - 1;
    while (json.charCodeAt(before) <= 0x20) before -= 1;
    if (json[before] === '"') count += 1;
  }
  return count;
}

/** A brace, or a text with the colon that makes it a key. */
const TOKEN = /[{}]|"([^"\\]*(?:\\.[^"\\]*)*)"\s*(:?)/g;

/** The keys of each object of a valid JSON text, repeated ones included. */
function keysIn(json: string): string[][] {
  const all: string[][] = [];
  const open: string[][] = [];
  for (const [token, text = '', colon] of json.matchAll(TOKEN)) {
    if (token === '{') open.push([]);
    else if (token === '}') all.push(open.pop() ?? []);
    else if (colon) open.at(-1)?.push(text.includes('\\') ? String(JSON.parse(`"${text}"`)) : text);
  }
  return all;
}

/** For each byte, 1 if a value or a key can follow it. */
const STARTS_VALUE = Uint8Array.from({ length: 256 }, (_, byte) => Number('[{:,'.includes(String.fromCharCode(byte))));

/** An upper bound of the values and keys in a JSON text: its characters `[`, `{`, `:` and `,`, even those in strings. */
export function countValues(json: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < json.length; at += 1) count += STARTS_VALUE[json[at] ?? 0] ?? 0;
  return count;
}

/** Is this JSON value an object, and no list? */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The properties of an object; `{}` for any other value. */
export function propertiesOf(value: unknown): Readonly<Record<string, unknown>> {
  // Safe: any property of an object can be read.
  return (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
}

/**
 * The size of a JSON value of any depth: the number of its values, where an object counts as `perObject`, plus the length of its
 * texts and keys / `charactersPerUnit`. Counting stops beyond `most`.
 */
export function sizeOf(
  value: unknown,
  charactersPerUnit: number,
  perObject = 1,
  most = Number.POSITIVE_INFINITY,
  measure = (text: string) => text.length,
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
      values += perObject - 1;
      for (const key in next) {
        characters += measure(key);
        open.push(next[key]);
      }
    }
  }
  return values + characters / charactersPerUnit;
}

/** A service's message for the log, if it has two to ten plain words; else empty, because it may be a name or an id. */
export function loggableMessage(message: unknown): string {
  const isPlain = typeof message === 'string' && /^[a-z_'.,]{1,20}( [a-z_'.,]{1,20}){1,9}$/i.test(message);
  return isPlain ? `: ${message}` : '';
}

/** The differences of a body from its contract, for the log: paths and kinds, no values; undefined without an error. */
export function describeIssues(error: z.ZodError | undefined): string | undefined {
  return error?.issues.map(({ path, code }) => `${path.join('.') || 'body'}: ${code}`).join('; ');
}
