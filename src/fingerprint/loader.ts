import DataLoader from 'dataloader';
import type { FingerprintOutcome } from './answer.ts';
import type { FingerprintClient } from './client.ts';
import type { FingerprintRequest } from './request.ts';

/** The questions of one GraphQL request, each asked once. */
export type FingerprintLoader = DataLoader<FingerprintRequest, FingerprintOutcome, string>;

/**
 * A loader for one GraphQL request; never share one, its answers are one caller's. The service judges one token a call,
 * so there is no batch to collect: `batch: false` sends each key at once and lets a quick answer go ahead of a slow one,
 * while identical keys still share a call.
 */
export function createFingerprintLoader(query: FingerprintClient, signal: AbortSignal): FingerprintLoader {
  return new DataLoader(
    // Settled one by one: a rejected batch would fail every key in it.
    async (requests) => {
      const settled = await Promise.allSettled(requests.map((request) => query(request, signal)));
      return settled.map((result) => (result.status === 'fulfilled' ? result.value : asError(result.reason)));
    },
    { batch: false, cacheKeyFn: ({ key }) => key },
  );
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('rejected with something that is no Error', { cause: reason });
}
