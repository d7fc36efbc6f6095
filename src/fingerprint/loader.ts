import DataLoader from 'dataloader';
import { asError, DeviceTrustError } from '../errors.ts';
import type { CallContext } from '../upstream/call-context.ts';
import type { FingerprintClient } from './client.ts';
import type { FingerprintOutcome } from './outcome.ts';
import type { FingerprintRequest } from './request.ts';

/** Sends each different request of one GraphQL operation once. */
type FingerprintLoader = DataLoader<FingerprintRequest, FingerprintOutcome, string>;

/**
 * Makes the loader of one GraphQL operation. It is never shared, because outcomes belong to one client. The service
 * judges one token per call, so there is nothing to batch: `batch: false` sends each key at once, and a quick response
 * is not held up by a slow one, while identical keys still share a call. Beyond `maxCalls` different keys, each further
 * one fails with OVERLOADED.
 */
export function createFingerprintLoader(
  query: FingerprintClient,
  maxCalls: number,
  context: CallContext,
): FingerprintLoader {
  let calls = 0;
  const load = (request: FingerprintRequest): Promise<FingerprintOutcome> => {
    calls += 1;
    if (calls <= maxCalls) return query(request, context);
    return Promise.reject(new DeviceTrustError('OVERLOADED', { message: tooManyTokens(maxCalls), side: 'caller' }));
  };
  return new DataLoader(
    // A failure is resolved as an Error: DataLoader forgets a key whose batch rejects, and would send the request
    // again.
    (requests) => Promise.all(requests.map((request) => load(request).catch(asError))),
    { batch: false, batchScheduleFn: inNextMicrotask, cacheKeyFn: ({ key }) => key },
  );
}

const resolved = Promise.resolve();

/** DataLoader's own schedule waits longer, for keys that could join the batch, and here a batch has one key. */
function inNextMicrotask(dispatch: () => void): void {
  resolved.then(dispatch);
}

function tooManyTokens(maxCalls: number): string {
  return `One request may ask about ${maxCalls} different device tokens. Ask about the others in another request.`;
}
