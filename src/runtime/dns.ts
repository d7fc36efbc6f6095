import { ADDRCONFIG, type LookupAddress } from 'node:dns';
import { lookup as dnsLookup } from 'node:dns/promises';

/** Looks up all addresses of a host name, of both families. Rejects with an error whose code is the reason. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

interface LookupObserver {
  /** A look-up failed with this code; `isFirst` unless the look-up before it failed as well. */
  failed(hostname: string, code: string, isFirst: boolean): void;
  recovered(hostname: string): void;
}

/** The least time between two look-ups of a name whose addresses are known, in ms. */
const REFRESH_MS = 20_000;

/** How long the last answer is used while every refresh fails, in ms. */
const MAX_AGE_MS = 5 * 60_000;

/** How long a caller waits for a look-up, in ms. The look-up itself cannot be aborted. */
const LOOKUP_TIMEOUT_MS = 1_500;

/** A look-up that ended less than this ago is not repeated, whatever happens to a connection, in ms. */
const FRESH_MS = 1_000;

/** How long a failed address is tried last, in ms. */
const LAST_MS = 60_000;

export type DnsCache = ReturnType<typeof createDnsCache>;

/** Host names with their addresses. The system runs two look-ups at a time, so a look-up for each socket would be late. */
export function createDnsCache(observer?: LookupObserver, lookup: Lookup = openSystemLookup()) {
  const names = new Map<string, HostName>();
  return {
    /** One host name. Its first `lookUp` asks the system. */
    nameFor(hostname: string): HostName {
      const name = names.get(hostname) ?? createName(hostname, lookup, observer);
      names.set(hostname, name);
      return name;
    },
  };
}

type HostName = ReturnType<typeof createName>;

function createName(hostname: string, lookup: Lookup, observer: LookupObserver | undefined) {
  let addresses: readonly LookupAddress[] = [];
  let isFailing = false;
  /** The end of the last look-up, and of the last one with addresses, on the clock of `performance.now()`. */
  let [endedAt, answeredAt] = [0, 0];
  /** The look-up under way. It stays here after its time-out, so that those who ask later fail at once. */
  let pending: Promise<void> | undefined;
  /** When each address last failed, and when its answer to a probe was unusual, which decides nothing but the order. */
  const [failures, oddities] = [new Map<string, number>(), new Map<string, number>()];
  const has = (address: string | undefined): boolean => addresses.some((each) => each.address === address);

  function start(): Promise<void> {
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const late = Object.assign(new Error(`look-up of ${hostname}`), { code: 'ETIMEDOUT' });
    const timer = setTimeout(reject, LOOKUP_TIMEOUT_MS, late).unref();
    const answer = lookup(hostname)
      .then((found) => {
        addresses = found;
        for (const times of [failures, oddities])
          for (const address of times.keys()) if (!has(address)) times.delete(address);
        answeredAt = performance.now();
        if (isFailing) observer?.recovered(hostname);
        isFailing = false;
      })
      .finally(() => {
        clearTimeout(timer);
        pending = undefined;
        endedAt = performance.now();
      });
    return Promise.race([answer, timeout]).catch((error: NodeJS.ErrnoException) => {
      observer?.failed(hostname, error.code ?? error.name, !isFailing);
      isFailing = true;
      throw error;
    });
  }

  const lastIn = (times: ReadonlyMap<string, number>, address: string) =>
    times.get(address) ?? Number.NEGATIVE_INFINITY;
  const isOver = (at: number) => performance.now() - at >= LAST_MS;

  return {
    /**
     * The latest addresses of the name, in the order in which a connection tries them; empty before the first look-up. Each
     * `turn` begins at another one.
     */
    inOrder(turn = 0): LookupAddress[] {
      const badAt = ({ address }: LookupAddress) => Math.max(lastIn(failures, address), lastIn(oddities, address));
      const good = addresses.filter((each) => isOver(badAt(each)));
      const bad = addresses.filter((each) => !good.includes(each)).sort((a, b) => badAt(a) - badAt(b));
      const at = turn % Math.max(good.length, 1);
      return [...good.slice(at), ...good.slice(0, at), ...bad];
    },
    /** A connection to this address failed, or a probe on one. */
    recordFailure: (address: string): void => void failures.set(address, performance.now()),
    /** A probe at this address got an unusual answer: it is the last one to try for a while. */
    recordOddity: (address: string): void => void oddities.set(address, performance.now()),
    /** Has this address failed since then, on the clock of `performance.now()`? */
    hasFailedSince: (address: string, since: number): boolean => (failures.get(address) ?? 0) > since,
    has,
    /** Is there an address that has not failed within `LAST_MS`? */
    hasGoodOne: (): boolean => addresses.some(({ address }) => isOver(lastIn(failures, address))),
    /**
     * Finds the addresses; undefined if they are known, and refreshed in the background if they are old. Rejects after 1.5 s with
     * ETIMEDOUT. ENOTFOUND is about the name, any other code about this machine.
     */
    lookUp(): Promise<void> | undefined {
      const now = performance.now();
      const isKnown = addresses.length > 0 && now - answeredAt < MAX_AGE_MS;
      if (isKnown && now - endedAt < REFRESH_MS) return undefined;
      pending ??= start();
      if (!isKnown) return pending;
      // The observer is told about a refresh that fails.
      pending.catch(() => {});
      return undefined;
    },
    /** Asks the system again unless it has just answered. Resolves also if that fails: the last addresses stay. */
    async refresh(): Promise<void> {
      if (performance.now() - endedAt < FRESH_MS) return;
      pending ??= start();
      await pending.catch(() => {});
    },
  };
}

/**
 * The look-up of the system, with its hosts file. A first look-up makes glibc read its configuration now: later, if no file
 * descriptor is left, glibc would answer ENOTFOUND for every name.
 */
function openSystemLookup(): Lookup {
  const lookup = (hostname: string) => dnsLookup(hostname, { all: true, hints: ADDRCONFIG });
  lookup('localhost').catch(() => {});
  return lookup;
}
