import { badUserInput } from '../errors.ts';
import type { QueryDeviceFingerprintArgs } from '../schema.generated.ts';
import { METADATA_KEYS, queryPath } from './contract.ts';

/** A configured application, prepared for calls: it has the credentials and the address of its region. */
export interface Application {
  readonly publicKey: string;
  readonly region: string;
  readonly origin: string;
  readonly path: string;
  /** Holds the secret. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An application as it is configured. */
interface ApplicationAccount {
  readonly publicKey: string;
  readonly secret: string;
  readonly region: string;
  /** Address of the region. */
  readonly baseUrl: string;
}

/** Prepares an application once, so that its calls need not. */
export function prepareApplication({ publicKey, secret, region, baseUrl }: ApplicationAccount): Application {
  const { origin, pathname } = new URL(baseUrl + queryPath(publicKey));
  return {
    publicKey,
    region,
    origin,
    path: pathname,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  };
}

/** A query that is ready to be sent. */
export interface FingerprintRequest {
  readonly application: Application;
  readonly token: string;
  /** The business event, for the risk policy and for the record of a judgement. */
  readonly eventType: string | undefined;
  /** The body as canonical JSON: equal arguments give equal text. */
  readonly body: string;
  /** Requests with the same key can share a call. */
  readonly key: string;
}

/**
 * Turns the arguments of `deviceFingerprint` into a request.
 *
 * @throws DeviceTrustError BAD_USER_INPUT for an unknown application, or metadata that names a key twice
 */
export function toRequest(
  args: QueryDeviceFingerprintArgs,
  applicationFor: (publicKey: string | null | undefined) => Application | undefined,
): FingerprintRequest {
  const application = applicationFor(args.publicKey);
  if (!application) throw badUserInput('publicKey', 'the public key of a configured application', 'an unknown one');
  const body = toBody(args);
  const eventType = args.eventType ?? undefined;
  return { application, token: args.token, eventType, body, key: `${application.publicKey}\n${body}` };
}

/**
 * The request body (document, 2.1) with its keys in a fixed order. Null arguments, null metadata keys and empty
 * metadata are left out, so that requests which differ only in them share a call. The time is sent as it was written.
 *
 * @throws DeviceTrustError BAD_USER_INPUT for metadata that names a key twice
 */
export function toBody({ token, metadata, eventType, eventTime }: QueryDeviceFingerprintArgs): string {
  const wireMetadata = metadata && toMetadata(metadata);
  return JSON.stringify({
    device_token: token,
    metadata: wireMetadata && Object.keys(wireMetadata).length > 0 ? wireMetadata : undefined,
    event_type: eventType ?? undefined,
    event_time: eventTime ?? undefined,
  });
}

type Metadata = NonNullable<QueryDeviceFingerprintArgs['metadata']>;

// Sound: METADATA_KEYS is a Record over exactly these names, and Object.entries widens them to string.
const DOCUMENTED = Object.entries(METADATA_KEYS) as [keyof typeof METADATA_KEYS, string][];
const DOCUMENTED_KEYS: ReadonlySet<string> = new Set(DOCUMENTED.map(([, key]) => key));

function toMetadata(given: Metadata) {
  const metadata: Record<string, unknown> = {};
  for (const [name, key] of DOCUMENTED) {
    const value = given[name];
    if (value != null) metadata[key] = value;
  }
  if (given.additional == null) return metadata;
  for (const [key, value] of Object.entries(given.additional).sort(byKey)) {
    if (DOCUMENTED_KEYS.has(key)) {
      throw badUserInput('metadata.additional', 'keys that have no field of their own', `the documented key ${key}`);
    }
    if (value !== null) metadata[key] = sorted(value);
  }
  return metadata;
}

/** A copy of a JSON value with the keys of every object sorted. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(byKey)
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : Number(a > b);
}
