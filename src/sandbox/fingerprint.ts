import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LRUCache } from 'lru-cache';
import { v7 as uuidV7 } from 'uuid';
import { z } from 'zod';
import { type FingerprintData, METADATA_KEYS, type WireFieldError } from '../fingerprint/contract.ts';
import { SIGNALS_BY_NAME } from '../fingerprint/signal-catalogue.ts';
import { parseJson } from '../runtime/json.ts';
import { isRfc3339 } from '../runtime/rfc3339.ts';
import type { Region } from '../upstream/settings.ts';
import { SANDBOX_APPLICATIONS } from './accounts.ts';
import { type JsonResponse, MAX_BODY_BYTES, mediaType, readBody } from './http.ts';

/** Answers one query (fingerprint document, 4). README.md has the order of the checks. Throws if the client disconnects. */
export async function queryFingerprint(
  request: IncomingMessage,
  publicKey: string,
  region: Region,
  { usedTokens, keys }: { readonly usedTokens: LRUCache<string, true>; readonly keys: ReadonlyMap<string, string> },
): Promise<JsonResponse> {
  const application = SANDBOX_APPLICATIONS.find((row) => row.publicKey === publicKey && row.region === region);
  if (!application) return errorResponse(404);
  // The name of the scheme is case-insensitive (RFC 9110, 11.1).
  const credential = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (credential !== keys.get(publicKey)) return errorResponse(401);
  if (application.forbidden) return errorResponse(403);

  const query = await parseQuery(request);
  if ('errors' in query) return invalidRequest(query.errors);
  const { deviceToken } = query;
  const digest = hash('sha256', deviceToken);
  const meaning = parseToken(deviceToken, usedTokens.has(digest));
  if (!meaning) return invalidRequest([INVALID_TOKEN]);
  if (meaning.isForOneQuery) usedTokens.set(digest, true);
  // Without `ref`, so that a delay does not outlast a sandbox that was stopped.
  if (meaning.delayMs > 0) await sleep(meaning.delayMs, undefined, { ref: false });
  if ('error' in meaning) return meaning.error === 400 ? invalidRequest([INVALID_TOKEN]) : errorResponse(meaning.error);
  // No token has the form `@name`, so a named device never has the id of a token.
  const deviceId = meaning.deviceName === undefined ? digest : hash('sha256', `@${meaning.deviceName}`);
  const data: Omit<FingerprintData, 'detail'> & { detail: object } = {
    request_id: requestId(publicKey, deviceToken),
    event_id: `evt_${uuidV7()}`,
    fp_detail: { device_id: deviceId, version: '1.0' },
    signals: meaning.signals,
    detail: meaning.detail,
  };
  return envelope(200, 'Success', data);
}

/** The start of 2025, in ms since 1970. The time of each analysis lies in the fifty days that follow it. */
const FIRST_ANALYSIS_MS = Date.UTC(2025, 0, 1);

/** The id of the analysis of a token for an application (2.4). The same key and token always give the same id. */
function requestId(publicKey: string, deviceToken: string): string {
  // As JSON, so that no other pair of key and token can give the same text.
  const digest = hash('sha256', JSON.stringify([publicKey, deviceToken]), 'buffer');
  // A UUID v7 begins with a time. The time comes from the digest too, because with the clock each query would get a new id.
  return `req_${uuidV7({ msecs: FIRST_ANALYSIS_MS + digest.readUInt32BE(0), random: digest.subarray(4) })}`;
}

/** The messages of the errors whose `data` is empty (section 7). */
const MESSAGES = {
  401: 'Invalid bearer token',
  403: 'Forbidden',
  404: 'integration not found',
  500: 'Internal server error',
} as const;

export function errorResponse(status: keyof typeof MESSAGES): JsonResponse {
  return envelope(status, MESSAGES[status], {});
}

/** The error of an invalid device token, word for word as in section 7. */
const INVALID_TOKEN: WireFieldError = { field: 'device_token', reason: 'Invalid token', type: 'value_error' };

function invalidRequest(errors: readonly WireFieldError[]): JsonResponse {
  return envelope(400, 'Invalid request', { errors });
}

/** The envelope of every response (2.3, 2.10). Its `code` is always the HTTP status (section 4, rule 1). */
function envelope(code: number, message: string, data: object): JsonResponse {
  return { status: code, body: { code, message, data } };
}

/** The errors of a body (2.1, 2.2). Two are documented (7) in the style of pydantic, so the other errors have pydantic's texts. */
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
  Object.fromEntries(METADATA_KEYS.map(([, name]) => [name, text.optional()])),
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

/** The token, or the field errors: `body` or `Content-Type` name the whole request. */
async function parseQuery(request: IncomingMessage): Promise<{ deviceToken: string } | { errors: WireFieldError[] }> {
  const body = await readBody(request);
  const type = mediaType(request.headers['content-type']);
  if (type !== 'application/json') return { errors: [fieldError('Content-Type', 'literal_error')] };
  if (!body) return { errors: [fieldError('body', 'bytes_too_long')] };
  const json = parseJson(body);
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

/** The devices (fingerprint document, 2.6 and 2.7), at addresses that are reserved for documentation (RFC 5737, RFC 3849). */
const DEVICES = {
  android: {
    client_type: 'Android',
    device_basic: { os: 'Android', pla: 'arm64-v8a', mod: 'Pixel 8', osv: '15' },
    ip_info: { ip: '203.0.113.10' },
  },
  ios: {
    client_type: 'iOS',
    device_basic: { os: 'iOS', pla: 'arm64', mod: 'iPhone16,1', osv: '18.2' },
    ip_info: { ip: '2001:db8::20' },
  },
  // The document allows keys that it does not list (2.7). Here these are `type` and `arch`.
  web: {
    client_type: 'Web/H5',
    device_basic: {
      browser: { name: 'Chrome', version: '131.0.6778.86', major: '131', type: 'desktop' },
      device: { model: 'Macintosh', vendor: 'Apple' },
      os: { name: 'macOS', version: '15.1', arch: 'arm64' },
    },
    ip_info: { ip: '203.0.113.30' },
  },
  // Newer than the document.
  car: { client_type: 'Car', device_basic: { maker: 'Example' }, ip_info: { ip: '203.0.113.40' } },
};

/** Signals that are newer than the document, with their levels. */
const NEWER = new Map(Object.entries({ NEWER_SIGNAL: 'MEDIUM', NEWER_LEVEL: 'CRITICAL' }));

const MAX_DELAY_MS = 60_000;

const DEVICE =
  '(?<once>once:)?(?<device>android|ios|web|car)(?::(?<names>[A-Z_]+(?:=[\\d.]+)?(?:,[A-Z_]+(?:=[\\d.]+)?)*))?';
const ERROR = 'error:(?<error>400|401|403|404|500)';
const NAMES = '(?:@(?<deviceName>[^#]+))?(?:#.*)?';
const TOKEN = new RegExp(`^sandbox:(?:delay:(?<delay>\\d{1,5}):)?(?:${DEVICE}|${ERROR})${NAMES}$`, 's');

/** Parses a token, as README.md has it; undefined if it is invalid. A token for one query is `isUsed` from its second query on. */
export function parseToken(token: string, isUsed: boolean) {
  const groups = TOKEN.exec(token)?.groups;
  if (!groups) return undefined;
  const { delay = '0', once, device, names, error, deviceName } = groups;
  const delayMs = Number(delay);
  if (delayMs > MAX_DELAY_MS) return undefined;
  const isForOneQuery = once !== undefined;
  // Safe, here and below: the pattern matches no other text, and a token has either an error or a device.
  if (error !== undefined)
    return { delayMs, deviceName, isForOneQuery, error: Number(error) as 400 | keyof typeof MESSAGES };
  const detail = DEVICES[device as keyof typeof DEVICES];
  const signals = signalsNamed([...(names?.split(',') ?? []), ...(isUsed ? ['TOKEN_EXPIRED'] : [])]);
  return signals && { delayMs, deviceName, isForOneQuery, detail, signals };
}

/** Each signal once, as in the catalogue (2.9) or in NEWER, or with its word's confidence; undefined if a signal is unknown. */
function signalsNamed(words: readonly string[]): FingerprintData['signals'] | undefined {
  const wanted = new Map(words.map((word) => [word.split('=', 1).join(), word.split('=')[1]]));
  const signals = [...wanted].flatMap(([name, given]) => {
    const row = SIGNALS_BY_NAME.get(name);
    const level = row?.level ?? NEWER.get(name);
    if (level === undefined || (given !== undefined && !CONFIDENCE.test(given))) return [];
    return { signal: name, level, confidence: Number(given ?? row?.confidence ?? 1) };
  });
  return signals.length < wanted.size ? undefined : signals;
}

const CONFIDENCE = /^(0(\.\d{1,3})?|1(\.0{1,3})?)$/;
