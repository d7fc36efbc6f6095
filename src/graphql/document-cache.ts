import { type Callers, type Holder, SharedCount, sharesOf } from '../callers/shares.ts';

/** After this time a use counts half, in ms. */
const HALF_LIFE_MS = 60_000;
/** The part of a service's share that is evicted at once, because each eviction sorts the entries. */
const SPARE = 1 / 16;
/** A growing entry evicts only entries with less than this part of its own use per byte, because they have to be made again. */
const GROWS_OVER = 1 / 8;

interface Entry<Value> {
  readonly value: Value;
  readonly owner: Holder;
  bytes: number;
  /** The weight of its uses at the time of the last one. */
  uses: number;
  usedAt: number;
}

const usesOf = ({ uses, usedAt }: Entry<unknown>, now: number) => uses * 2 ** ((usedAt - now) / HALF_LIFE_MS);

/**
 * A cache of what is computed once per document, bounded in bytes. A new entry replaces those with the least use per byte, so
 * neither a flood of documents nor those of an old release displace documents in use. Each service has an equal part of the share
 * of all services. Until its part is full it evicts entries of the router, then its own.
 */
export class DocumentCache<Value> {
  readonly #maxBytes: number;
  readonly #shares: ReturnType<typeof sharesOf>;
  readonly #held = new SharedCount();
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(maxBytes: number, callers: Callers) {
    const { together } = sharesOf(maxBytes, callers);
    this.#maxBytes = maxBytes;
    this.#shares = { together, each: together / Math.max(callers.services.size, 1) };
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const now = performance.now();
    entry.uses = usesOf(entry, now) + 1;
    entry.usedAt = now;
    return entry.value;
  }

  /** Adds an entry of this many bytes, unless it is larger than the caller's share. */
  add(key: string, value: Value, bytes: number, { name, isService }: Holder): void {
    const owner = { name, isService };
    if (this.#entries.has(key) || !this.#makeRoom(owner, bytes, Number.POSITIVE_INFINITY)) return;
    this.#entries.set(key, { value, owner, bytes, uses: 1, usedAt: performance.now() });
    this.#held.add(owner, bytes);
  }

  /** Lets an entry take more bytes. Returns false if the entries to evict are used too much, or if it is gone. */
  grow(key: string, bytes: number): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    const use = usesOf(entry, performance.now()) / (entry.bytes + bytes);
    if (!this.#makeRoom(entry.owner, bytes, GROWS_OVER * use)) return false;
    entry.bytes += bytes;
    this.#held.add(entry.owner, bytes);
    return true;
  }

  /** Evicts entries with less than this use per byte, the least used first. Returns false if that is not enough. */
  #makeRoom(owner: Holder, bytes: number, most: number): boolean {
    const { each } = this.#shares;
    const fits = (amount: number, total = this.#maxBytes) => this.#held.hasRoom(total, this.#shares, owner, amount);
    if (fits(bytes)) return true;
    if (bytes > (owner.isService ? each : this.#maxBytes)) return false;
    const wanted = bytes + SPARE * each;
    const isShareFull = !owner.isService || !fits(wanted, Number.POSITIVE_INFINITY);
    const mayEvict = ({ owner: { name, isService } }: Entry<Value>) => (isShareFull ? name === owner.name : !isService);
    const now = performance.now();
    const candidates = [...this.#entries]
      .filter(([, entry]) => mayEvict(entry))
      .map(([key, entry]) => ({ key, entry, use: usesOf(entry, now) / entry.bytes }))
      .filter(({ use }) => use < most)
      .sort((one, other) => one.use - other.use);
    for (const { key, entry } of candidates) {
      if (fits(wanted)) break;
      this.#entries.delete(key);
      this.#held.add(entry.owner, -entry.bytes);
    }
    return fits(bytes);
  }
}
