import type { TrustedKey } from '../callers/settings.ts';
import type { TrustedMetadata } from '../callers/trusted-headers.ts';
import { badUserInput, checkText } from '../errors.ts';
import { isObject, propertiesOf } from '../runtime/json.ts';
import type { DeviceMetadataInput, QueryDeviceFingerprintArgs } from '../schema.generated.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { type Account, CLIENT_HEADERS } from '../upstream/transport.ts';
import { METADATA_KEYS, QUERY_TEMPLATE } from './contract.ts';

/** Metadata with the trusted headers, and the keys of the arguments that the headers overrule. */
export function withTrusted(given: DeviceMetadataInput | null | undefined, trusted: TrustedMetadata) {
  const metadata = { ...given };
  const dropped: TrustedKey[] = [];
  for (const { keys, found, isReplaceable } of trusted) {
    if (!found && isReplaceable) continue;
    for (const key of keys) {
      if (metadata[key] != null) dropped.push(key);
      metadata[key] = found?.[key] ?? null;
    }
  }
  return { metadata, dropped };
}

/** An application as it is configured. A valid configuration has an address for its region. */
type ConfiguredApplication = Readonly<
  Record<'publicKey' | 'secret' | 'region', string> & { baseUrl: string | undefined }
>;

/** Prepares an application once for all of its calls. */
export function prepareApplication({ publicKey: id, secret, region, baseUrl }: ConfiguredApplication): Account {
  // A `/` in a key would lead to another endpoint.
  const url = baseUrl + QUERY_TEMPLATE.replace('{public_key}', () => encodeURIComponent(id));
  const { origin, pathname: path } = new URL(url);
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...CLIENT_HEADERS };
  return { id, region, origin, path, headers };
}

/** Turns arguments into a request. @throws BAD_USER_INPUT: unknown application, a text that is too long, a key named twice */
export function toRequest(args: QueryDeviceFingerprintArgs, applications: Pick<UpstreamClient, 'find'>) {
  const account = applications.find(args.publicKey);
  if (!account)
    throw badUserInput('publicKey', 'that of a configured application', 'an unknown one', 'FINGERPRINT_APPLICATIONS');
  const { token, eventType, eventTime } = args;
  for (const [name, text] of Object.entries({ token, eventType, eventTime })) if (text != null) checkText(name, text);
  const body = toBody(args);
  // Requests with the same key can share a call. The risk policy and the record of a judgement use the event type too.
  return { account, token, eventType: eventType ?? undefined, body, key: `${account.id}\n${body}` };
}

export type FingerprintRequest = Readonly<ReturnType<typeof toRequest>>;

/** The body (2.1). The order of keys is fixed, and null and no metadata mean the same as nothing, so equal requests share a call. */
export function toBody({ token, metadata, eventType, eventTime }: QueryDeviceFingerprintArgs): string {
  const wireMetadata = metadata && toMetadata(metadata);
  return JSON.stringify({
    device_token: token,
    metadata: wireMetadata && Object.keys(wireMetadata).length > 0 ? wireMetadata : undefined,
    event_type: eventType ?? undefined,
    event_time: eventTime ?? undefined,
  });
}

const DOCUMENTED_KEYS: ReadonlySet<string> = new Set(METADATA_KEYS.map(([, name]) => name));

function toMetadata(given: DeviceMetadataInput): Record<string, unknown> {
  const documented: Record<string, string> = {};
  for (const [key, name] of METADATA_KEYS) {
    const text = given[key];
    if (text == null) continue;
    checkText(`metadata.${key}`, text);
    documented[name] = text;
  }
  const additional = propertiesOf(sorted(given.additional));
  for (const key in additional)
    if (DOCUMENTED_KEYS.has(key))
      throw badUserInput('metadata.additional', 'keys that have no field of their own', `the documented key ${key}`);
  return { ...documented, ...additional };
}

/** Checks the texts, and sorts the keys: equal objects may have them in different orders (RFC 8259, section 4), unlike lists. */
function sorted(value: unknown): unknown {
  if (typeof value === 'string') checkText('metadata.additional', value);
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  // V8 keeps an object without a prototype as a dictionary, so it makes no shape for each of a caller's 27,000 objects.
  const object: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) {
    checkText('metadata.additional', key);
    object[key] = sorted(value[key]);
  }
  return object;
}
