import { Resolver } from '../runtime/dns.ts';
import { UpstreamPool } from '../upstream/pool.ts';
import { PendingRequest } from '../upstream/transport.ts';

/** Sends the requests of the warm-up. */
interface Client {
  /** Posts a text to an address, and gives the JSON of the answer. Rejects after `abort`. */
  post(address: string, body: string): Promise<unknown>;
  /** Ends the request under way, and lets every further one fail. */
  abort(): void;
  /** Closes every socket. */
  close(): Promise<void>;
}

/** A client that sends these headers with each request. It is made of what asks upstreams, which is warm then as well. */
export function createClient(headers: Readonly<Record<string, string>>): Client {
  const resolver = new Resolver();
  const pools = new Map<string, UpstreamPool>();
  const aborting = new AbortController();
  return {
    post: async (address, body) => {
      const { origin, pathname, search } = new URL(address);
      const pool = pools.get(origin) ?? new UpstreamPool(origin, resolver);
      pools.set(origin, pool);
      const pending = new PendingRequest(pool, { method: 'POST', path: pathname + search, headers, body });
      const abort = () => pending.abort(new Error('the warm-up took too long'));
      if (aborting.signal.aborted) abort();
      aborting.signal.addEventListener('abort', abort, { once: true });
      try {
        return (await pending.send()).json;
      } finally {
        aborting.signal.removeEventListener('abort', abort);
      }
    },
    abort: () => aborting.abort(),
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
      resolver.close();
    },
  };
}
