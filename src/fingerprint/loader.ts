import DataLoader from 'dataloader';
import { asError, DeviceTrustError } from '../errors.ts';
import type { Caller } from '../upstream/call-context.ts';
import type { FingerprintClient } from './client.ts';
import type { FingerprintOutcome } from './outcome.ts';
import type { FingerprintRequest } from './request.ts';

/** The questions of one GraphQL request, each asked once. */
type FingerprintLoader = DataLoader<FingerprintRequest, FingerprintOutcome, string>;

/**
 * A loader for one GraphQL request; never share one, its answers are one caller's. The service judges one token a call,
 * so there is no batch to collect: `batch: false` sends each key at once and lets a quick answer go ahead of a slow one,
 * while identical keys still share a call. Beyond `maxCalls` different keys, each one fails with OVERLOADED, alone.
 */
export function createFingerprintLoader(query: FingerprintClient, maxCalls: number, caller: Caller): FingerprintLoader {
  let calls = 0;
  const ask = (request: FingerprintRequest): Promise<FingerprintOutcome> => {
    calls += 1;
    if (calls <= maxCalls) return query(request, caller);
    return Promise.reject(new DeviceTrustError('OVERLOADED', { message: tooMany(maxCalls), side: 'caller' }));
  };
  return new DataLoader(
    // A failure is a value here: DataLoader forgets a key whose batch rejects, and would ask the same question again.
    (requests) => Promise.all(requests.map((request) => ask(request).catch(asError))),
    { batch: false, batchScheduleFn: soon, cacheKeyFn: ({ key }) => key },
  );
}

const settled = Promise.resolve();

/** In the next microtask. Left to itself DataLoader waits for more keys, and a batch has one here. */
function soon(dispatch: () => void): void {
  settled.then(dispatch);
}

function tooMany(maxCalls: number): string {
  return `One request may ask about ${maxCalls} different device tokens. Ask about the others in another request.`;
}
