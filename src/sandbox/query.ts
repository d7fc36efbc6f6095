import { z } from 'zod';
import { METADATA_KEYS, type WireFieldError } from '../fingerprint/contract.ts';
import { decodeUtf8, parseJson } from '../runtime/json.ts';
import { isRfc3339 } from '../runtime/rfc3339.ts';
import { MAX_BODY_BYTES, mediaType } from './http.ts';

/**
 * The rules for the body of a query (fingerprint document, 2.1 and 2.2), and the error of each. The document has only two of
 * these errors (section 7). Both have the style of pydantic, so the others have pydantic's types and texts.
 */
const REASONS: Readonly<Record<string, string>> = {
  missing: 'Field required',
  string_type: 'Input should be a valid string',
  string_too_short: 'String should have at least 1 character',
  dict_type: 'Input should be a valid dictionary',
  datetime_parsing: 'Input should be an RFC 3339 date-time with an offset',
  extra_forbidden: 'Extra inputs are not permitted',
  json_invalid: 'Invalid JSON',
  bytes_too_long: `Data should have at most ${MAX_BODY_BYTES} bytes`,
  literal_error: `Input should be 'application/json'`,
};

// The message of each issue is the type of its error.
const text = z.string({ error: ({ input }) => (input === undefined ? 'missing' : 'string_type') });
/** The value of a documented key is a string; that of any other key may be anything (2.2). */
const metadata = z.looseObject(
  Object.fromEntries(Object.values(METADATA_KEYS).map((name) => [name, text.optional()])),
  'dict_type',
);
const query = z.strictObject(
  {
    device_token: text.min(1, 'string_too_short'),
    metadata: metadata.optional(),
    event_type: text.optional(),
    event_time: text.refine(isRfc3339, 'datetime_parsing').optional(),
  },
  'dict_type',
);

/**
 * The device token of a valid body, or all of its field errors. An error of the whole body is one of a field named `body` or
 * `Content-Type`.
 *
 * @param body undefined if it was too long
 */
export function parseQuery(
  contentType: string | undefined,
  body: Buffer | undefined,
): { deviceToken: string } | { errors: WireFieldError[] } {
  if (mediaType(contentType) !== 'application/json') return { errors: [fieldError('Content-Type', 'literal_error')] };
  if (!body) return { errors: [fieldError('body', 'bytes_too_long')] };
  const json = parseJson(decodeUtf8(body) ?? '');
  if (json === undefined) return { errors: [fieldError('body', 'json_invalid')] };
  const { success, data, error } = query.safeParse(json);
  return success ? { deviceToken: data.device_token } : { errors: error.issues.flatMap(fieldErrorsOf) };
}

function fieldErrorsOf(issue: z.core.$ZodIssue): WireFieldError[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => fieldError(key, 'extra_forbidden'));
  return [fieldError(issue.path.join('.') || 'body', issue.message)];
}

function fieldError(field: string, type: string): WireFieldError {
  return { field, reason: REASONS[type] ?? type, type };
}
