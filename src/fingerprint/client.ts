import DataLoader from 'dataloader';
import type { Logger } from 'pino';
import { asError, DeviceTrustError } from '../errors.ts';
import type { Account, CallScope } from '../upstream/call.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { evidenceOfStatus, HEALTHY_PROBE, type Probe, type ProbeResult } from '../upstream/prober.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import { anyEnvelope, invalidRequestEnvelope, successEnvelope } from './contract.ts';
import type { Drift, FingerprintMetrics } from './metrics.ts';
import { type FingerprintOutcome, toOutcome, toRejection } from './outcome.ts';
import { type FingerprintRequest, toBody } from './request.ts';

/** The loader of one request, whose equal requests share a call. Beyond `maxCalls` others fail with OVERLOADED. */
export function createFingerprintLoader(
  client: Pick<FingerprintClient, 'query'>,
  maxCalls: number,
  scope: CallScope,
): Pick<DataLoader<FingerprintRequest, FingerprintOutcome, string>, 'load'> {
  let calls = 0;
  const load = (request: FingerprintRequest): Promise<FingerprintOutcome> => {
    calls += 1;
    if (calls <= maxCalls) return client.query(request, scope);
    const message = `One request may ask about ${maxCalls} different device tokens. Ask about the others in another request.`;
    return Promise.reject(new DeviceTrustError('OVERLOADED', { message, side: 'caller' }));
  };
  // A failure stays with its own request: DataLoader rejects only the entry that is an Error.
  return new DataLoader((requests) => Promise.all(requests.map((request) => load(request).catch(asError))), {
    cacheKeyFn: ({ key }) => key,
  });
}

interface Options {
  readonly upstream: Pick<UpstreamClient, 'ask'>;
  readonly metrics: Pick<FingerprintMetrics, 'recordSignal' | 'recordDrift' | 'recordShortenedReport'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** Asks the fingerprint service, and counts the signals of its answers. */
export class FingerprintClient {
  readonly #options: Options;
  /** The new words that the log has named. */
  readonly #named = new Set<string>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Asks about one token. An empty one needs no call: its outcome is known. @throws see `UpstreamClient.ask` */
  async query(request: FingerprintRequest, scope: CallScope): Promise<FingerprintOutcome> {
    // The service would reject it (document, section 8), at the price of a call.
    if (request.token === '') return toRejection([EMPTY_TOKEN]);
    const { upstream, metrics, log } = this.#options;
    const { application: account, body } = request;
    const { requestId } = scope.operation;
    // Each documented outcome shows that the service works. All else throws.
    const { outcome, leftOut, differences } = await upstream.ask({ account, body, scope }, (response) => ({
      result: toOutcome(request, response, Date.now()),
      evidence: 'well',
    }));
    if (leftOut > 0) {
      metrics.recordShortenedReport();
      const flaws = `device_basic: ${leftOut} values were left out or cut`;
      log.warn({ requestId, account: account.id, flaws }, 'a device reports more than is kept');
    }
    for (const [kind, word] of differences) this.#recordDrift(kind, word);
    const signals = outcome.__typename === 'DeviceFingerprint' ? outcome.signals : [];
    for (const signal of signals) metrics.recordSignal(signal);
    return outcome;
  }

  /** Counts a difference from the document, and names a new word in the log, once in this process. */
  #recordDrift(kind: Drift, word?: string): void {
    this.#options.metrics.recordDrift(kind);
    // The word is part of the cause, so the repeat limit counts each word separately.
    const cause = `${kind}: ${word !== undefined && PLAIN_WORD.test(word) ? word : 'another one'}`;
    if (word === undefined || this.#named.has(cause) || this.#named.size >= MAX_NAMED) return;
    this.#named.add(cause);
    this.#options.log.warn({ cause }, 'the fingerprint service sent a word that its document does not have');
  }
}

/** A word like those of the document: nothing else is kept, or gets into the log. */
const PLAIN_WORD = /^[\w/.-]{1,48}$/;
const MAX_NAMED = 64;

const EMPTY_TOKEN = {
  field: 'device_token',
  reason: 'expected a token of at least 1 character, but got none',
  type: 'string_too_short',
};

/** Asks about an empty token. The service refuses it after it has checked our credentials (document, section 8). */
export function fingerprintProbe({ region, origin, path, headers }: Account): Probe {
  return { region, origin, path, headers, body: () => toBody({ token: '' }), classify };
}

/** Documented answers are the success and the 400 about the token; 401, 403 and 404 blame us (section 7). */
function classify({ status, json, unreadable }: UpstreamResponse): ProbeResult {
  if (status === 200 && successEnvelope.safeParse(json).success) return HEALTHY_PROBE;
  if (status === 400 && invalidRequestEnvelope.safeParse(json).success) return HEALTHY_PROBE;
  const envelope = anyEnvelope.safeParse(json).data;
  if (envelope && envelope.code !== status)
    return { evidence: 'failed', reason: `HTTP status ${status} with code ${envelope.code}` };
  return evidenceOfStatus(status, unreadable);
}
