import { METADATA_KEYS, type WireFieldError } from '../fingerprint/contract.ts';
import { decodeUtf8 } from '../runtime/json.ts';
import { isRfc3339 } from '../runtime/rfc3339.ts';
import { MAX_BODY_BYTES, mediaType } from './http.ts';

/**
 * The rules of a query's body (fingerprint document, 2.1 and 2.2) and the field errors that follow from breaking them.
 * The document spells out two errors only (section 7); the others take their words and types from pydantic, whose style
 * those two have.
 */

type JsonObject = Record<string, unknown>;
type Rule = (field: string, value: unknown) => WireFieldError[];

const METADATA_NAMES: ReadonlySet<string> = new Set(Object.values(METADATA_KEYS));

const FIELDS: ReadonlyMap<string, Rule> = new Map([
  ['device_token', nonEmptyString],
  ['metadata', metadata],
  ['event_type', string],
  ['event_time', dateTime],
]);

/**
 * The device token of a well-formed body, or every field error at once. `body` is undefined when it was too long to be
 * kept. What concerns the body as a whole is reported for a field named `body` or `Content-Type`.
 */
export function validateQuery(
  contentType: string | undefined,
  body: Buffer | undefined,
): { deviceToken: string } | { errors: WireFieldError[] } {
  if (mediaType(contentType) !== 'application/json') {
    return { errors: fault('Content-Type', `Input should be 'application/json'`, 'literal_error') };
  }
  if (!body) return { errors: fault('body', `Data should have at most ${MAX_BODY_BYTES} bytes`, 'bytes_too_long') };
  const json = parseBody(body);
  if (json === undefined) return { errors: fault('body', 'Invalid JSON', 'json_invalid') };
  if (!isObject(json)) return { errors: object('body', json) };
  const errors = fieldErrors(json);
  const deviceToken = json['device_token'];
  return errors.length === 0 && typeof deviceToken === 'string' ? { deviceToken } : { errors };
}

function fieldErrors(body: JsonObject): WireFieldError[] {
  const missing = Object.hasOwn(body, 'device_token') ? [] : fault('device_token', 'Field required', 'missing');
  const wrong = Object.entries(body).flatMap(([field, value]) => (FIELDS.get(field) ?? unknownField)(field, value));
  return [...missing, ...wrong];
}

function unknownField(field: string): WireFieldError[] {
  return fault(field, 'Extra inputs are not permitted', 'extra_forbidden');
}

function string(field: string, value: unknown): WireFieldError[] {
  return typeof value === 'string' ? [] : fault(field, 'Input should be a valid string', 'string_type');
}

function nonEmptyString(field: string, value: unknown): WireFieldError[] {
  return value === ''
    ? fault(field, 'String should have at least 1 character', 'string_too_short')
    : string(field, value);
}

function dateTime(field: string, value: unknown): WireFieldError[] {
  if (typeof value !== 'string') return string(field, value);
  return isRfc3339(value)
    ? []
    : fault(field, 'Input should be an RFC 3339 date-time with an offset', 'datetime_parsing');
}

function object(field: string, value: unknown): WireFieldError[] {
  return isObject(value) ? [] : fault(field, 'Input should be a valid dictionary', 'dict_type');
}

/** Documented keys hold strings; any other key may hold anything (2.2). */
function metadata(field: string, value: unknown): WireFieldError[] {
  if (!isObject(value)) return object(field, value);
  return Object.entries(value)
    .filter(([key]) => METADATA_NAMES.has(key))
    .flatMap(([key, entry]) => string(`${field}.${key}`, entry));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every key is kept, so that one such as `__proto__` is refused like any other unknown field; undefined if it is not JSON. */
function parseBody(body: Buffer): unknown {
  const text = decodeUtf8(body);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fault(field: string, reason: string, type: string): WireFieldError[] {
  return [{ field, reason, type }];
}
