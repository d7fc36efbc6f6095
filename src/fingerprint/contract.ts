import { z } from 'zod';
import { isObject, propertiesOf } from '../runtime/json.ts';
import { DEVICE_METADATA_KEYS } from '../schema.generated.ts';

/** The paths, names and shapes of the fingerprint document, without any I/O. Section numbers are that document's. */

/** Path of the one operation (section 4). */
export const QUERY_TEMPLATE = '/api/v2/fp_query/{public_key}';

/** The name of each metadata key here, and in the document (2.2), which writes it in snake case. */
export const METADATA_KEYS = DEVICE_METADATA_KEYS.map(
  (key) => [key, key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] as const,
);

const mobile = z.object({ os: z.string(), pla: z.string(), mod: z.string(), osv: z.string() });

/** The document gives web objects no types and allows any further key (2.7). */
const web = z.custom<Record<'browser' | 'device' | 'os', Record<string, unknown>>>(isWeb, 'expected three objects');

function isWeb(given: unknown): boolean {
  const { browser, device, os } = propertiesOf(given);
  return isObject(browser) && isObject(device) && isObject(os);
}

/** The longest list of signals or of errors: some four times the catalogue. */
const MAX_ITEMS = 200;

/** A list, checked up to its first wrong item: zod makes an issue for each wrong item, and 80,000 issues take 200 ms. */
const listOf = <Item>(isItem: (given: unknown) => given is Item) =>
  z.custom<Item[]>((given) => Array.isArray(given) && given.length <= MAX_ITEMS && given.every(isItem));

const ipInfo = z.object({ ip: z.string() });

/** Is this one entry of `signals` (2.8)? Its level may be newer than the document. */
function isSignal(given: unknown): given is { signal: string; level: string; confidence: number } {
  const { signal, level, confidence } = propertiesOf(given);
  const isConfidence = typeof confidence === 'number' && confidence >= 0 && confidence <= 1;
  return typeof signal === 'string' && signal !== '' && typeof level === 'string' && isConfidence;
}

/** The client types (2.6) with our names, and OTHER for a type that is newer than the document. */
export const CLIENT_TYPES = { Android: 'ANDROID', iOS: 'IOS', 'Web/H5': 'WEB_H5', OTHER: 'OTHER' } as const;

/** Accepts a device with a newer client type, without its `device_basic`, whose shape is unknown. */
function asOther(detail: unknown): unknown {
  const { client_type: word, ip_info } = propertiesOf(detail);
  const isNewer = typeof word === 'string' && !['Android', 'iOS', 'Web/H5'].includes(word);
  return isNewer ? { client_type: 'OTHER', word, ip_info } : detail;
}
const detail = z.discriminatedUnion('client_type', [
  z.object({ client_type: z.enum(['Android', 'iOS']), device_basic: mobile, ip_info: ipInfo }),
  z.object({ client_type: z.literal('Web/H5'), device_basic: web, ip_info: ipInfo }),
  z.object({ client_type: z.literal('OTHER'), word: z.string(), ip_info: ipInfo }),
]);

/** The data (2.4 to 2.8). `client_type` decides which `device_basic` must follow (2.7); unknown extra fields are dropped. */
const data = z.object({
  request_id: z.string().min(1),
  event_id: z.string().min(1),
  fp_detail: z.object({ device_id: z.string().min(1), version: z.string() }),
  signals: listOf(isSignal),
  detail: z.preprocess(asOther, detail),
});

/** The envelope of a success (2.3). */
export const successEnvelope = z.object({ code: z.literal(200), message: z.string(), data });

const fieldError = z.object({ field: z.string(), reason: z.string(), type: z.string() });
const fieldErrors = listOf((given): given is WireFieldError => fieldError.safeParse(given).success);

/** The envelope of a 400 (2.10), the only status whose details help the caller. */
export const invalidRequestEnvelope = z.object({
  code: z.literal(400),
  message: z.string(),
  data: z.object({ errors: fieldErrors.default([]) }),
});

/** The refusals of our credentials (7), by their exact messages. Those of a firewall differ. */
export const REFUSALS: ReadonlyMap<number, string> = new Map([
  [401, 'Invalid bearer token'],
  [403, 'Forbidden'],
  [404, 'integration not found'],
]);

/** Any envelope, to compare its `code` with the HTTP status (section 4, rule 1), and to log its message. */
export const anyEnvelope = z.object({ code: z.int(), message: z.unknown() });

export type FingerprintData = z.infer<typeof data>;
export type WireFieldError = z.infer<typeof fieldError>;
