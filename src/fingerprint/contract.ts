import { z } from 'zod';
import { isObject, nestsTooDeep, sizeOf } from '../runtime/json.ts';
import type { DeviceMetadataInput, SignalLevel } from '../schema.generated.ts';

/** The paths, names and shapes of the fingerprint document, without any I/O. Section numbers are that document's. */

/** Path of the one operation (section 4), without the public key. */
export const QUERY_TEMPLATE = '/api/v2/fp_query/{public_key}';

/** The same with a key, which is encoded, because a `/` in it would lead to another endpoint. */
export function queryPath(publicKey: string): string {
  return QUERY_TEMPLATE.replace('{public_key}', () => encodeURIComponent(publicKey));
}

/** The documented metadata keys (2.2): our names, each with the document's. */
export const METADATA_KEYS: Readonly<Record<keyof Omit<DeviceMetadataInput, 'additional'>, string>> = {
  accountId: 'account_id',
  phoneNum: 'phone_num',
  phoneSha256: 'phone_sha256',
  phoneCountryCode: 'phone_country_code',
  phonePrefix: 'phone_prefix',
  email: 'email',
  emailSha256: 'email_sha256',
  emailDomain: 'email_domain',
  ipAddrV4: 'ip_addr_v4',
  ipAddrV6: 'ip_addr_v6',
  userAgent: 'user_agent',
  ja3: 'ja3',
  ja4: 'ja4',
  macPrefix: 'mac_prefix',
  wifiBssidPrefix: 'wifi_bssid_prefix',
  tlsCipher: 'tls_cipher',
};

const mobile = z.object({ os: z.string(), pla: z.string(), mod: z.string(), osv: z.string() });

/** Far more than a page reports about its machine: 1,000 values, or 16,000 characters. */
const MAX_FREE_FORM_SIZE = 1_000;

interface WireWeb {
  readonly browser: Record<string, unknown>;
  readonly device: Record<string, unknown>;
  readonly os: Record<string, unknown>;
}

/** The document gives web objects no types and allows any further key (2.7), so only their size and depth are limited here. */
function isWeb(given: unknown): boolean {
  const { browser, device, os } = Object(given);
  const parts = [browser, device, os];
  if (!parts.every(isObject) || sizeOf(parts, 16, MAX_FREE_FORM_SIZE) > MAX_FREE_FORM_SIZE) return false;
  return !parts.some((part) => nestsTooDeep(part));
}
const web = z.custom<WireWeb>(isWeb, 'expected three objects of a sensible size and depth');

/** The longest list of signals or of errors. The catalogue has 51 signals. */
const MAX_ITEMS = 200;

/** A list that is checked by hand up to the first item that does not fit: zod makes an issue of each, and 80,000 of them take 200 ms. */
function listOf<Item>(isItem: (given: unknown) => boolean, expected: string) {
  return z.custom<Item[]>(
    (given) => Array.isArray(given) && given.length <= MAX_ITEMS && given.every(isItem),
    `expected a list of at most ${MAX_ITEMS} ${expected}`,
  );
}

const ipInfo = z.object({ ip: z.string() });

/** One entry of `signals` (2.8). */
interface WireSignal {
  readonly signal: string;
  readonly level: SignalLevel;
  readonly confidence: number;
}

const LEVELS: ReadonlySet<unknown> = new Set<SignalLevel>(['LOW', 'MEDIUM', 'HIGH']);

function isSignal(given: unknown): boolean {
  const { signal, level, confidence } = Object(given);
  const isConfidence = typeof confidence === 'number' && confidence >= 0 && confidence <= 1;
  return typeof signal === 'string' && signal !== '' && LEVELS.has(level) && isConfidence;
}

/** 2.4 to 2.8. `client_type` decides which `device_basic` must follow (2.7); unknown extra fields are dropped. */
const data = z.object({
  request_id: z.string().min(1),
  event_id: z.string().min(1),
  fp_detail: z.object({ device_id: z.string().min(1), version: z.string() }),
  signals: listOf<WireSignal>(isSignal, 'signals with a level and a confidence'),
  detail: z.discriminatedUnion('client_type', [
    z.object({ client_type: z.literal('Android'), device_basic: mobile, ip_info: ipInfo }),
    z.object({ client_type: z.literal('iOS'), device_basic: mobile, ip_info: ipInfo }),
    z.object({ client_type: z.literal('Web/H5'), device_basic: web, ip_info: ipInfo }),
  ]),
});

/** 2.3 */
export const successEnvelope = z.object({ code: z.literal(200), message: z.string(), data });

/** One entry of `data.errors` (2.10). */
export interface WireFieldError {
  readonly field: string;
  readonly reason: string;
  readonly type: string;
}

function isFieldError(given: unknown): boolean {
  const { field, reason, type } = Object(given);
  return [field, reason, type].every((text) => typeof text === 'string');
}

/** 2.10, for a 400: the only status whose details help the caller. */
export const invalidRequestEnvelope = z.object({
  code: z.literal(400),
  message: z.string(),
  data: z.object({ errors: listOf<WireFieldError>(isFieldError, 'errors').default([]) }),
});

/** Any envelope, to compare its `code` with the HTTP status (section 4, rule 1). */
export const anyEnvelope = z.object({ code: z.int() });

/** The `data` of a success, with the document's names. */
export type FingerprintData = z.infer<typeof data>;
