import { GraphQLScalarType } from 'graphql';
import { isObject } from '../runtime/json.ts';
import { isRfc3339 } from '../runtime/rfc3339.ts';

/** Completes the sentence "expected …" for each of our scalars. A given value may be personal data, so it is never repeated. */
export const SCALAR_EXPECTATIONS: ReadonlyMap<string, string> = new Map([
  ['DateTime', 'DateTime, an RFC 3339 date-time with an offset such as 2026-03-01T09:30:00+01:00'],
  ['JSONObject', 'JSONObject, a JSON object of at most 32 levels, without integers beyond 2^53'],
]);

/** `DateTime`: checked, but kept as text, so that it reaches the upstream as the caller wrote it. */
export const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  parseValue(value) {
    if (typeof value === 'string' && isRfc3339(value)) return value;
    throw new TypeError('no DateTime');
  },
});

/** Keys that could reach an object's prototype if later code merges or assigns them. */
const UNSAFE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** The deepest nesting of a caller's value. */
const MAX_LEVELS = 32;

/** Takes unsafe keys out of a JSON value, without a copy. @throws TypeError beyond `levels`, or if a number fails `isNumber` */
function clean(value: unknown, levels: number, isNumber: (value: number) => boolean): void {
  if (typeof value === 'number' && !isNumber(value)) throw new TypeError('no number of JSON');
  if (typeof value !== 'object' || value === null) return;
  if (levels === 0) throw new TypeError('too deep');
  // Safe: any property of an object can be read, with or without a prototype.
  const properties = value as Record<string, unknown>;
  for (const key in properties) {
    if (UNSAFE_KEYS.has(key)) delete properties[key];
    else clean(properties[key], levels - 1, isNumber);
  }
}

/** Would JSON carry this number unchanged? 1e400 would become null, and 9007199254740993 would become its neighbour. */
const survivesJson = (value: number) => Number.isFinite(value) && (Number.isSafeInteger(value) || value % 1 !== 0);

/** Cleans each object once: a variable is parsed twice, and an answer can have the same object thousands of times. */
function cleanedOnce(levels: number, isNumber: (value: number) => boolean) {
  const known = new WeakSet<object>();
  return (value: unknown): Record<string, unknown> => {
    if (!isObject(value)) throw new TypeError('no JSONObject');
    if (!known.has(value)) clean(value, levels, isNumber);
    known.add(value);
    return value;
  };
}

/** `JSONObject`: any JSON object, at most 32 levels deep, without the keys that could reach a prototype. */
export const JSONObject = new GraphQLScalarType<Record<string, unknown>, Record<string, unknown>>({
  name: 'JSONObject',
  serialize: cleanedOnce(Number.POSITIVE_INFINITY, () => true),
  parseValue: cleanedOnce(MAX_LEVELS, survivesJson),
});
