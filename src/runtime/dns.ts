import { ADDRCONFIG, lookup as dnsLookup, type LookupAddress } from 'node:dns';

/** Receives at least one address of a name, or an error whose code is the reason. */
type OnAddresses = (error: Error | null, addresses: readonly LookupAddress[]) => void;

/** Looks up all addresses of a host name, of both families. */
export type Lookup = (hostname: string, done: OnAddresses) => void;

interface LookupObserver {
  /** A look-up failed with this code; `isFirst` unless the look-up before it failed as well. */
  failed(hostname: string, code: string, isFirst: boolean): void;
  recovered(hostname: string): void;
}

/** The age at which an answer is refreshed in the background, in ms. */
const REFRESH_MS = 20_000;

/** How long the last answer is used while every refresh fails, in ms. */
const MAX_AGE_MS = 5 * 60_000;

/** How long a caller waits for a look-up, in ms. The look-up itself cannot be aborted. */
const LOOKUP_TIMEOUT_MS = 1_500;

/** Host names with their addresses. The system runs two look-ups at a time, so a look-up for each socket would be late. */
export class DnsCache {
  readonly #names = new Map<string, HostName>();
  readonly #lookup: Lookup;
  readonly #observer: LookupObserver | undefined;

  constructor(observer?: LookupObserver, lookup: Lookup = openSystemLookup()) {
    this.#observer = observer;
    this.#lookup = lookup;
  }

  /** One host name. Its first `resolve` looks it up. */
  nameFor(hostname: string): HostName {
    const name = this.#names.get(hostname) ?? new HostName(hostname, this.#lookup, this.#observer);
    this.#names.set(hostname, name);
    return name;
  }

  close(): void {
    for (const name of this.#names.values()) name.close();
  }
}

/** One host name with its addresses. At most one look-up of it is under way. */
export class HostName {
  readonly #hostname: string;
  readonly #lookup: Lookup;
  readonly #observer: LookupObserver | undefined;
  #isFailing = false;
  /** The last addresses of the name; empty before the first ones are known. */
  addresses: readonly LookupAddress[] = [];
  #answeredAt = 0;
  #waiting: OnAddresses[] = [];
  #isLookingUp = false;
  /** Has the look-up under way timed out? */
  #isOverdue = false;
  #refreshTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(hostname: string, lookup: Lookup, observer: LookupObserver | undefined) {
    this.#hostname = hostname;
    this.#lookup = lookup;
    this.#observer = observer;
  }

  /** Are there addresses, at most 5 minutes old? */
  get isKnown(): boolean {
    return this.addresses.length > 0 && performance.now() - this.#answeredAt < MAX_AGE_MS;
  }

  /** Gives the addresses, or ETIMEDOUT after 1.5 s. ENOTFOUND is about the name, any other code about this machine. */
  resolve(done: OnAddresses): void {
    if (this.isKnown) {
      done(null, this.addresses);
    } else if (this.#isOverdue) {
      process.nextTick(done, lookupError(this.#hostname, 'ETIMEDOUT'), []);
    } else {
      this.#waiting.push(done);
      this.#lookUp();
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#refreshTimer);
  }

  #lookUp(): void {
    if (this.#isLookingUp) return;
    this.#isLookingUp = true;
    clearTimeout(this.#refreshTimer);
    const timer = setTimeout(() => {
      this.#isOverdue = true;
      this.#finish(lookupError(this.#hostname, 'ETIMEDOUT'));
    }, LOOKUP_TIMEOUT_MS).unref();
    this.#lookup(this.#hostname, (error, addresses) => {
      clearTimeout(timer);
      const wasOverdue = this.#isOverdue;
      this.#isLookingUp = false;
      this.#isOverdue = false;
      this.#keep(error ? [] : addresses);
      const failure = error ?? (addresses.length === 0 ? lookupError(this.#hostname, 'ENODATA') : null);
      // An overdue look-up was reported as a failure already.
      if (!failure || !wasOverdue) this.#finish(failure);
    });
  }

  /** Keeps an answer. After a failure the last answer stays. */
  #keep(addresses: readonly LookupAddress[]): void {
    if (addresses.length > 0) {
      this.addresses = addresses;
      this.#answeredAt = performance.now();
    }
    // A name without such addresses is looked up again by the next `resolve`.
    if (this.#isClosed || !this.isKnown) return;
    this.#refreshTimer = setTimeout(() => this.#lookUp(), REFRESH_MS).unref();
  }

  #finish(error: NodeJS.ErrnoException | null): void {
    if (error) this.#observer?.failed(this.#hostname, error.code ?? error.name, !this.#isFailing);
    else if (this.#isFailing) this.#observer?.recovered(this.#hostname);
    this.#isFailing = error !== null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const done of waiting) done(error, error ? [] : this.addresses);
  }
}

function lookupError(hostname: string, code: string): Error {
  return Object.assign(new Error(`look-up ${code} ${hostname}`), { code });
}

/**
 * The look-up of the system, with its hosts file. A first look-up makes glibc read its configuration now: later, if no file
 * descriptor is left, glibc would answer ENOTFOUND for every name.
 */
function openSystemLookup(): Lookup {
  dnsLookup('localhost', () => {});
  return (hostname, done) => dnsLookup(hostname, { all: true, hints: ADDRCONFIG }, done);
}
