import { badUserInput } from '../errors.ts';
import type { QueryDeviceFingerprintArgs } from '../schema.generated.ts';
import { METADATA_KEYS, queryPath } from './contract.ts';

/** One of the configured applications, ready to be called: it decides the credentials and, by its address, the region. */
export interface Application {
  readonly publicKey: string;
  readonly region: string;
  readonly origin: string;
  readonly path: string;
  /** Holds the secret. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Account {
  readonly publicKey: string;
  readonly secret: string;
  readonly region: string;
  /** Address of the region. */
  readonly baseUrl: string;
}

/** Does once what every call to an application needs. */
export function prepareApplication({ publicKey, secret, region, baseUrl }: Account): Application {
  const { origin, pathname } = new URL(baseUrl + queryPath(publicKey));
  return {
    publicKey,
    region,
    origin,
    path: pathname,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  };
}

/** A query that is ready to be sent. Two with the same `key` ask the same question. */
export interface FingerprintRequest {
  readonly application: Application;
  readonly token: string;
  /** The body as JSON. Canonical: the same question always gives the same text. */
  readonly body: string;
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
  return { application, token: args.token, body, key: `${application.publicKey}\n${body}` };
}

/**
 * The request body (document, 2.1) with its keys in a fixed order. A null argument or metadata key, and metadata with
 * nothing in it, are left out, so they cannot make a second question out of the first; the time goes as it was written.
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

/** A copy of a JSON value with the keys of every object in one order. */
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
