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

/** The deepest nesting of a caller's value. */
const MAX_LEVELS = 32;

/** Does JSON carry this value of a caller unchanged? 1e400 would become null, and 9007199254740993 would become its neighbour. */
function survivesJson(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && (Number.isSafeInteger(value) || value % 1 !== 0);
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => survivesJson(inner, levels - 1));
}

/** `JSONObject`: any JSON object, from a caller at most 32 levels deep. Its keys are data, even `__proto__`. */
export const JSONObject = new GraphQLScalarType<Record<string, unknown>, unknown>({
  name: 'JSONObject',
  parseValue(value) {
    if (!isObject(value) || !survivesJson(value)) throw new TypeError('no JSONObject');
    return value;
  },
});
