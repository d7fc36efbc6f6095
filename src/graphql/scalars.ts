import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { nestsTooDeep } from '../fingerprint/free-form.ts';
import { isRfc3339 } from '../fingerprint/time.ts';

/** Messages name what was expected and never what was got: a value may be personal data. */

function toDateTime(value: unknown): string {
  if (typeof value === 'string' && isRfc3339(value)) return value;
  throw new GraphQLError('expected an RFC 3339 date-time with an offset, such as 2026-03-01T09:30:00+01:00');
}

/** `DateTime`: checked, and kept as text, so that it reaches the upstream as the caller wrote it. */
export const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  serialize: toDateTime,
  parseValue: toDateTime,
  parseLiteral: (node) => toDateTime(node.kind === Kind.STRING ? node.value : undefined),
});

/** Keys that could reach an object's prototype wherever a later reader merges or assigns. */
const UNSAFE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toJsonObject(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new GraphQLError('expected a JSON object');
  if (nestsTooDeep(value)) throw new GraphQLError('expected a JSON object that nests less deeply');
  return withoutUnsafeKeys(value);
}

function withoutUnsafeKeys(value: Record<string, unknown>): Record<string, unknown> {
  const safe = Object.entries(value).filter(([key]) => !UNSAFE_KEYS.has(key));
  return Object.fromEntries(safe.map(([key, inner]) => [key, cleaned(inner)]));
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  return isObject(value) ? withoutUnsafeKeys(value) : value;
}

/** A literal as the JSON value it stands for. graphql-js has parsed it recursively already, so depth is no news here. */
function fromLiteral(node: ValueNode, variables: Record<string, unknown>): unknown {
  switch (node.kind) {
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, fromLiteral(value, variables)]));
    case Kind.LIST:
      return node.values.map((value) => fromLiteral(value, variables));
    case Kind.VARIABLE:
      return variables[node.name.value] ?? null;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.NULL:
      return null;
    default:
      return node.value;
  }
}

/** `JSONObject`: any JSON object, at most 32 levels deep, without the keys that could reach a prototype. */
export const JSONObject = new GraphQLScalarType<Record<string, unknown>, Record<string, unknown>>({
  name: 'JSONObject',
  serialize: toJsonObject,
  parseValue: toJsonObject,
  parseLiteral: (node, variables) => toJsonObject(fromLiteral(node, variables ?? {})),
});
