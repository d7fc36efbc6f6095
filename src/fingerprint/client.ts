import { DeviceTrustError } from '../errors.ts';
import type { CallContext } from '../upstream/call-context.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { QUERY_TEMPLATE } from './contract.ts';
import { type FingerprintOutcome, toOutcome, toRejection } from './outcome.ts';
import type { FingerprintRequest } from './request.ts';

/**
 * Asks the fingerprint service about one token.
 *
 * @throws DeviceTrustError with one of the UPSTREAM codes, OVERLOADED or QUOTA_EXCEEDED, or the reason of a cancellation
 */
export type FingerprintClient = (request: FingerprintRequest, context: CallContext) => Promise<FingerprintOutcome>;

interface Options {
  readonly upstream: Pick<UpstreamClient, 'post' | 'health'>;
  /** The deadline of one whole call, in ms. */
  readonly fingerprintTimeoutMs: number;
  /** Called with the outcome of each call that had one. */
  readonly onOutcome: (outcome: FingerprintOutcome) => void;
}

/** Makes a client that calls the service once for each request, except for an empty token, whose outcome is known. */
export function createFingerprintClient({ upstream, fingerprintTimeoutMs, onOutcome }: Options): FingerprintClient {
  return async (request, context) => {
    // The service would reject it (document, section 8), at the price of a call.
    if (request.token === '') return toRejection([EMPTY_TOKEN]);
    const { application, body } = request;
    const { publicKey: account, region, origin, path, headers } = application;
    const timeoutMs = fingerprintTimeoutMs;
    const health = upstream.health.find(account);
    try {
      const sent = { region, account, origin, path, pathTemplate: QUERY_TEMPLATE, headers, body, timeoutMs, context };
      const response = await upstream.post(sent);
      const outcome = toOutcome(request, response, Date.now());
      health?.recordAnswer();
      onOutcome(outcome);
      return outcome;
    } catch (error) {
      if (error instanceof DeviceTrustError && DOUBTS.has(error.code)) health?.doubt();
      throw error;
    }
  };
}

/** After a failure with one of these codes, a probe finds out whether the service is well. */
const DOUBTS: ReadonlySet<string> = new Set([
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_REJECTED',
  'UPSTREAM_PROTOCOL_ERROR',
]);

const EMPTY_TOKEN = {
  field: 'device_token',
  reason: 'expected a token of at least 1 character, but got none',
  type: 'string_too_short',
};
