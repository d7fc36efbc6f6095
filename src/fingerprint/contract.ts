import { z } from 'zod';
import { nestsTooDeep } from '../runtime/json.ts';
import type { DeviceMetadataInput } from '../schema.generated.ts';

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

/** The document gives web objects no types and allows any further key (2.7), so only their depth is limited here. */
const freeForm = z
  .looseObject({})
  .refine((object) => !nestsTooDeep(object), { error: 'expected an object that nests less deeply' });
const web = z.object({ browser: freeForm, device: freeForm, os: freeForm });

const ipInfo = z.object({ ip: z.string() });

/** 2.4 to 2.8. `client_type` decides which `device_basic` must follow (2.7); unknown extra fields are dropped. */
const data = z.object({
  request_id: z.string().min(1),
  event_id: z.string().min(1),
  fp_detail: z.object({ device_id: z.string().min(1), version: z.string() }),
  signals: z.array(
    z.object({
      signal: z.string().min(1),
      level: z.enum(['LOW', 'MEDIUM', 'HIGH']),
      confidence: z.number().min(0).max(1),
    }),
  ),
  detail: z.discriminatedUnion('client_type', [
    z.object({ client_type: z.literal('Android'), device_basic: mobile, ip_info: ipInfo }),
    z.object({ client_type: z.literal('iOS'), device_basic: mobile, ip_info: ipInfo }),
    z.object({ client_type: z.literal('Web/H5'), device_basic: web, ip_info: ipInfo }),
  ]),
});

/** 2.3 */
export const successEnvelope = z.object({ code: z.literal(200), message: z.string(), data });

/**
 * Does `successEnvelope` accept this? The same check is written out here, because every call needs it and zod takes fourteen
 * times as long. A test compares both on random bodies. What is wrong with a body is explained by zod alone.
 */
export function isSuccess(body: unknown): body is z.infer<typeof successEnvelope> {
  return isObject(body) && body['code'] === 200 && typeof body['message'] === 'string' && isData(body['data']);
}

function isData(given: unknown): boolean {
  if (!isObject(given)) return false;
  const { request_id, event_id, fp_detail, signals, detail } = given;
  if (!isName(request_id) || !isName(event_id)) return false;
  if (!isObject(fp_detail) || !isName(fp_detail['device_id']) || typeof fp_detail['version'] !== 'string') return false;
  return Array.isArray(signals) && signals.every(isSignal) && isDetail(detail);
}

function isSignal(given: unknown): boolean {
  if (!isObject(given)) return false;
  const { signal, level, confidence } = given;
  if (!isName(signal) || (level !== 'LOW' && level !== 'MEDIUM' && level !== 'HIGH')) return false;
  return typeof confidence === 'number' && confidence >= 0 && confidence <= 1;
}

function isDetail(given: unknown): boolean {
  if (!isObject(given)) return false;
  const { client_type, device_basic, ip_info } = given;
  if (!isObject(device_basic) || !isObject(ip_info) || typeof ip_info['ip'] !== 'string') return false;
  if (client_type === 'Web/H5')
    return [device_basic['browser'], device_basic['device'], device_basic['os']].every(isFreeForm);
  if (client_type !== 'Android' && client_type !== 'iOS') return false;
  const { os, pla, mod, osv } = device_basic;
  return typeof os === 'string' && typeof pla === 'string' && typeof mod === 'string' && typeof osv === 'string';
}

function isFreeForm(given: unknown): boolean {
  return isObject(given) && !nestsTooDeep(given);
}

function isName(given: unknown): boolean {
  return typeof given === 'string' && given !== '';
}

function isObject(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

const fieldError = z.object({ field: z.string(), reason: z.string(), type: z.string() });

/** 2.10, for a 400: the only status whose details help the caller. */
export const invalidRequestEnvelope = z.object({
  code: z.literal(400),
  message: z.string(),
  data: z.object({ errors: z.array(fieldError).default([]) }),
});

/**
 * Does `invalidRequestEnvelope` accept this, and does it name its errors? Written out for the same reason as `isSuccess`: whoever
 * sends tokens that are made up decides how often this is asked.
 */
export function isInvalidRequest(body: unknown): body is z.infer<typeof invalidRequestEnvelope> {
  if (!isObject(body) || body['code'] !== 400 || typeof body['message'] !== 'string') return false;
  const { data } = body;
  return isObject(data) && Array.isArray(data['errors']) && data['errors'].every(isFieldError);
}

function isFieldError(given: unknown): boolean {
  if (!isObject(given)) return false;
  const { field, reason, type } = given;
  return typeof field === 'string' && typeof reason === 'string' && typeof type === 'string';
}

/** Any envelope, to compare its `code` with the HTTP status (section 4, rule 1). */
export const anyEnvelope = z.object({ code: z.int() });

/** The `data` of a success, with the document's names. */
export type FingerprintData = z.infer<typeof data>;
/** One entry of `data.errors` of a 400, with the document's names. */
export type WireFieldError = z.infer<typeof fieldError>;
