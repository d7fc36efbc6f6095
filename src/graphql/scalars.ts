import { GraphQLScalarType } from 'graphql';
import { isObject, nestsTooDeep } from '../runtime/json.ts';
import { isRfc3339 } from '../runtime/rfc3339.ts';

/** What each of our scalars accepts, to complete the sentence "expected …". The value may be personal data, so it is never repeated. */
export const SCALAR_EXPECTATIONS: ReadonlyMap<string, string> = new Map([
  ['DateTime', 'DateTime, an RFC 3339 date-time with an offset such as 2026-03-01T09:30:00+01:00'],
  ['JSONObject', 'JSONObject, a JSON object of at most 32 levels, without integers beyond 2^53'],
]);

function toDateTime(value: unknown): string {
  if (typeof value === 'string' && isRfc3339(value)) return value;
  throw new TypeError('no DateTime');
}

/** `DateTime`: checked, but kept as text, so that it reaches the upstream as the caller wrote it. */
export const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  parseValue: toDateTime,
});

/** Keys that could reach an object's prototype if later code merges or assigns them. */
const UNSAFE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

function withoutUnsafeKeys(value: Record<string, unknown>): Record<string, unknown> {
  const safe = Object.entries(value).filter(([key]) => !UNSAFE_KEYS.has(key));
  return Object.fromEntries(safe.map(([key, inner]) => [key, cleaned(inner)]));
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  return isObject(value) ? withoutUnsafeKeys(value) : value;
}

/** Would JSON carry these numbers unchanged? 1e400 would become null, and 9007199254740993 would become its neighbour. */
function survivesJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && (Number.isSafeInteger(value) || value % 1 !== 0);
  return typeof value !== 'object' || value === null || Object.values(value).every(survivesJson);
}

function fromCaller(value: unknown): Record<string, unknown> {
  if (!isObject(value) || nestsTooDeep(value) || !survivesJson(value)) throw new TypeError('no JSONObject');
  return withoutUnsafeKeys(value);
}

/** What was serialised, because an answer with aliases or many references has the same object thousands of times. */
const serialized = new WeakMap<object, Record<string, unknown>>();

function toCaller(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new TypeError('no JSONObject');
  const object = serialized.get(value) ?? withoutUnsafeKeys(value);
  serialized.set(value, object);
  return object;
}

/** `JSONObject`: any JSON object, at most 32 levels deep, without the keys that could reach a prototype. */
export const JSONObject = new GraphQLScalarType<Record<string, unknown>, Record<string, unknown>>({
  name: 'JSONObject',
  serialize: toCaller,
  parseValue: fromCaller,
});
