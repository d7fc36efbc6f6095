import { METADATA_KEYS, type WireFieldError } from '../fingerprint/contract.ts';
import { decodeUtf8 } from '../runtime/json.ts';
import { isRfc3339 } from '../runtime/rfc3339.ts';
import { MAX_BODY_BYTES, mediaType } from './http.ts';

/**
 * The rules for the body of a query (fingerprint document, 2.1 and 2.2), and the error of each. The document has only two of
 * these errors (section 7). Both have the style of pydantic, so the others have pydantic's messages and types.
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
 * The device token of a valid body, or all of its field errors. An error of the whole body is one of a field named `body` or
 * `Content-Type`.
 *
 * @param body undefined if it was too long
 */
export function validateQuery(
  contentType: string | undefined,
  body: Buffer | undefined,
): { deviceToken: string } | { errors: WireFieldError[] } {
  if (mediaType(contentType) !== 'application/json') {
    return { errors: fieldError('Content-Type', `Input should be 'application/json'`, 'literal_error') };
  }
  if (!body)
    return { errors: fieldError('body', `Data should have at most ${MAX_BODY_BYTES} bytes`, 'bytes_too_long') };
  const json = parseBody(body);
  if (json === undefined) return { errors: fieldError('body', 'Invalid JSON', 'json_invalid') };
  if (!isObject(json)) return { errors: object('body', json) };
  const errors = fieldErrors(json);
  const deviceToken = json['device_token'];
  return errors.length === 0 && typeof deviceToken === 'string' ? { deviceToken } : { errors };
}

function fieldErrors(body: JsonObject): WireFieldError[] {
  const missing = Object.hasOwn(body, 'device_token') ? [] : fieldError('device_token', 'Field required', 'missing');
  const wrong = Object.entries(body).flatMap(([field, value]) => (FIELDS.get(field) ?? unknownField)(field, value));
  return [...missing, ...wrong];
}

function unknownField(field: string): WireFieldError[] {
  return fieldError(field, 'Extra inputs are not permitted', 'extra_forbidden');
}

function string(field: string, value: unknown): WireFieldError[] {
  return typeof value === 'string' ? [] : fieldError(field, 'Input should be a valid string', 'string_type');
}

function nonEmptyString(field: string, value: unknown): WireFieldError[] {
  return value === ''
    ? fieldError(field, 'String should have at least 1 character', 'string_too_short')
    : string(field, value);
}

function dateTime(field: string, value: unknown): WireFieldError[] {
  if (typeof value !== 'string') return string(field, value);
  return isRfc3339(value)
    ? []
    : fieldError(field, 'Input should be an RFC 3339 date-time with an offset', 'datetime_parsing');
}

function object(field: string, value: unknown): WireFieldError[] {
  return isObject(value) ? [] : fieldError(field, 'Input should be a valid dictionary', 'dict_type');
}

/** The value of a documented key is a string; that of any other key may be anything (2.2). */
function metadata(field: string, value: unknown): WireFieldError[] {
  if (!isObject(value)) return object(field, value);
  return Object.entries(value)
    .filter(([key]) => METADATA_NAMES.has(key))
    .flatMap(([key, entry]) => string(`${field}.${key}`, entry));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined if the body is not JSON. Keeps every key, so that `__proto__` is refused like any other unknown field. */
function parseBody(body: Buffer): unknown {
  const text = decodeUtf8(body);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldError(field: string, reason: string, type: string): WireFieldError[] {
  return [{ field, reason, type }];
}
