import DataLoader from 'dataloader';
import { DeviceTrustError } from '../errors.ts';
import type { CallContext } from '../upstream/call-context.ts';
import type { FingerprintClient } from './client.ts';
import type { FingerprintOutcome } from './outcome.ts';
import type { FingerprintRequest } from './request.ts';

/** Sends each different request of one GraphQL operation once. */
type FingerprintLoader = Pick<DataLoader<FingerprintRequest, FingerprintOutcome, string>, 'load'>;

/**
 * Makes the loader of one GraphQL operation. It is never shared, because outcomes belong to one client. The service
 * judges one token per call, so there is nothing to batch but the dispatch: each key of a batch gets the promise of a call
 * of its own, so that a quick response is not held up by a slow one, and one that fails makes no other fail. Identical keys
 * share a call. Beyond `maxCalls` different keys, each further one fails with OVERLOADED.
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
  const loader = new DataLoader(async (requests: readonly FingerprintRequest[]) => requests.map(load), {
    batchScheduleFn: inNextMicrotask,
    cacheKeyFn: ({ key }: FingerprintRequest) => key,
  });
  // Sound: DataLoader resolves the promise of a key with the value of the key. A promise that is resolved with another one
  // settles as that one does.
  return loader as DataLoader<FingerprintRequest, unknown, string> as FingerprintLoader;
}

const resolved = Promise.resolve();

/** DataLoader's own schedule waits longer, for keys that could join the batch, and here each key has its own call. */
function inNextMicrotask(dispatch: () => void): void {
  resolved.then(dispatch);
}

function tooManyTokens(maxCalls: number): string {
  return `One request may ask about ${maxCalls} different device tokens. Ask about the others in another request.`;
}
