import DataLoader from 'dataloader';
import type { Logger } from 'pino';
import { asError, badUserInput, DeviceTrustError } from '../errors.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { QueryDeviceFingerprintArgs } from '../schema.generated.ts';
import { type Accounts, USER_AGENT } from '../upstream/accounts.ts';
import type { CallOperation, UpstreamClient } from '../upstream/client.ts';
import { evidenceOfStatus, type Probe, type ProbeResult, WELL } from '../upstream/probe.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import { isUpstreamFailure } from '../upstream/transport-errors.ts';
import {
  anyEnvelope,
  invalidRequestEnvelope,
  METADATA_KEYS,
  QUERY_TEMPLATE,
  queryPath,
  successEnvelope,
} from './contract.ts';
import { driftOf, type FingerprintOutcome, toOutcome, toRejection } from './outcome.ts';

/** From the arguments of `deviceFingerprint` to an outcome: the request, the loader that shares calls, and the call. */

/** A configured application, prepared for calls: it has the credentials and the address of its region. */
export interface Application {
  readonly publicKey: string;
  readonly region: string;
  readonly origin: string;
  readonly path: string;
  /** Holds the secret. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An application as it is configured, with the address of its region. */
interface ApplicationAccount extends Pick<Application, 'publicKey' | 'region'> {
  readonly secret: string;
  readonly baseUrl: string;
}

/** Prepares an application once, so that its calls need not. */
export function prepareApplication({ publicKey, secret, region, baseUrl }: ApplicationAccount): Application {
  const { origin, pathname: path } = new URL(baseUrl + queryPath(publicKey));
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'user-agent': USER_AGENT };
  return { publicKey, region, origin, path, headers };
}

/** A query that is ready to be sent. */
export interface FingerprintRequest {
  readonly application: Application;
  readonly token: string;
  /** The business event, for the risk policy and for the record of a judgement. */
  readonly eventType: string | undefined;
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
  applications: Pick<Accounts<Application>, 'find'>,
): FingerprintRequest {
  const application = applications.find(args.publicKey);
  if (!application)
    throw badUserInput('publicKey', 'that of a configured application', 'an unknown one', 'FINGERPRINT_APPLICATIONS');
  const body = toBody(args);
  const eventType = args.eventType ?? undefined;
  return { application, token: args.token, eventType, body, key: `${application.publicKey}\n${body}` };
}

/**
 * The request body (document, 2.1) with the documented keys in a fixed order. Null arguments, null metadata keys and empty
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

// Sound: METADATA_KEYS is a Record over exactly these names, and Object.entries widens them to string.
const DOCUMENTED = Object.entries(METADATA_KEYS) as [keyof typeof METADATA_KEYS, string][];
const DOCUMENTED_KEYS: ReadonlySet<string> = new Set(DOCUMENTED.map(([, key]) => key));

function toMetadata(given: NonNullable<QueryDeviceFingerprintArgs['metadata']>): Record<string, unknown> {
  const metadata: Record<string, unknown> = {};
  for (const [name, key] of DOCUMENTED) {
    if (given[name] != null) metadata[key] = given[name];
  }
  for (const [key, value] of Object.entries(given.additional ?? {})) {
    if (DOCUMENTED_KEYS.has(key)) {
      throw badUserInput('metadata.additional', 'keys that have no field of their own', `the documented key ${key}`);
    }
    if (value !== null) metadata[key] = value;
  }
  return metadata;
}

/**
 * Makes the loader of one GraphQL operation, in which equal requests share a call. It is never shared itself, because
 * outcomes belong to one client. The service judges one token per call, so a batch is as many calls, and the operation waits
 * for all of them anyway. Beyond `maxCalls` different requests, each further one fails with OVERLOADED.
 */
export function createFingerprintLoader(
  client: Pick<FingerprintClient, 'query'>,
  maxCalls: number,
  operation: CallOperation,
): Pick<DataLoader<FingerprintRequest, FingerprintOutcome, string>, 'load'> {
  let calls = 0;
  const load = (request: FingerprintRequest): Promise<FingerprintOutcome> => {
    calls += 1;
    if (calls <= maxCalls) return client.query(request, operation);
    const message = `One request may ask about ${maxCalls} different device tokens. Ask about the others in another request.`;
    return Promise.reject(new DeviceTrustError('OVERLOADED', { message, side: 'caller' }));
  };
  // One that fails makes no other one fail: a value that is an Error rejects its own request.
  return new DataLoader((requests) => Promise.all(requests.map((request) => load(request).catch(asError))), {
    cacheKeyFn: ({ key }) => key,
  });
}

interface Options {
  readonly upstream: Pick<UpstreamClient, 'post' | 'health'>;
  readonly metrics: Pick<Metrics, 'recordSignal' | 'recordShortenedReport'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** Asks the fingerprint service, and counts the signals of its answers. */
export class FingerprintClient {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Asks about one token, with one call. An empty token needs none, because its outcome is known.
   *
   * @throws DeviceTrustError with one of the UPSTREAM codes, OVERLOADED or QUOTA_EXCEEDED, or the reason of a cancellation
   */
  async query(request: FingerprintRequest, operation: CallOperation): Promise<FingerprintOutcome> {
    // The service would reject it (document, section 8), at the price of a call.
    if (request.token === '') return toRejection([EMPTY_TOKEN]);
    const { upstream, metrics, log } = this.#options;
    const { application, body } = request;
    const { publicKey: account, region, origin, path, headers } = application;
    try {
      const sent = { region, account, origin, path, pathTemplate: QUERY_TEMPLATE, headers, body, operation };
      const response = await upstream.post(sent);
      const outcome = toOutcome(request, response, Date.now(), (values) => {
        metrics.recordShortenedReport();
        const flaws = `device_basic: ${values} values were left out or cut`;
        log.warn({ requestId: operation.requestId, account, flaws }, 'a device reports more about itself than is kept');
      });
      upstream.health.find(account)?.recordResponse();
      const signals = outcome.__typename === 'DeviceFingerprint' ? outcome.signals : [];
      for (const signal of signals) metrics.recordSignal(signal.code, signal.level, driftOf(signal));
      return outcome;
    } catch (error) {
      // Probes find out whether it is the service that is not well. A pause is no such failure.
      if (isUpstreamFailure(error) && error.why !== 'pause') upstream.health.requestProbe(account);
      throw error;
    }
  }
}

const EMPTY_TOKEN = {
  field: 'device_token',
  reason: 'expected a token of at least 1 character, but got none',
  type: 'string_too_short',
};

/** Asks about an empty token. The service refuses it after it has checked our credentials (document, section 8). */
export function fingerprintProbe({ region, origin, path, headers }: Application): Probe {
  return { region, origin, path, headers, body: () => toBody({ token: '' }), classify };
}

/** Documented answers are the success and the 400 about the token; 401, 403 and 404 blame us (section 7). */
function classify({ status, json }: UpstreamResponse): ProbeResult {
  if (status === 200 && successEnvelope.safeParse(json).success) return WELL;
  if (status === 400 && invalidRequestEnvelope.safeParse(json).success) return WELL;
  const envelope = anyEnvelope.safeParse(json).data;
  if (envelope && envelope.code !== status) {
    return { evidence: 'failed', reason: `HTTP status ${status} with code ${envelope.code}` };
  }
  return evidenceOfStatus(status);
}
