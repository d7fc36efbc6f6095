import type { Caller } from '../upstream/call-context.ts';
import type { UpstreamHttp } from '../upstream/client.ts';
import { type FingerprintOutcome, rejected, toOutcome } from './outcome.ts';
import type { FingerprintRequest } from './request.ts';

/** Asks the fingerprint service one question. Rejects with a DeviceTrustError, or with the reason of a cancellation. */
export type FingerprintClient = (request: FingerprintRequest, caller: Caller) => Promise<FingerprintOutcome>;

/**
 * A client that calls the service once for each request, but for an empty token, whose answer is known.
 *
 * @param timeoutMs for one whole call
 * @param onOutcome told of every outcome that a call had
 */
export function createFingerprintClient(
  http: UpstreamHttp,
  timeoutMs: number,
  onOutcome: (outcome: FingerprintOutcome) => void,
): FingerprintClient {
  return async (request, caller) => {
    // The service would say the same (document, section 8), at the price of a call.
    if (request.token === '') return rejected([EMPTY_TOKEN]);
    const { region, origin, path, headers } = request.application;
    const answer = await http.post({ region, origin, path, headers, body: request.body, timeoutMs, caller });
    const outcome = toOutcome(request, answer);
    onOutcome(outcome);
    return outcome;
  };
}

const EMPTY_TOKEN = {
  field: 'device_token',
  reason: 'expected a token of at least 1 character, but got none',
  type: 'string_too_short',
};
