import { type Callers, type Holder, sharesOf } from '../runtime/shares.ts';

/** After this time a use counts half, in ms. */
const HALF_LIFE_MS = 60_000;
/** The part of a full share that is evicted at once, because entries have to be sorted for it. */
const SPARE = 1 / 16;
/** To grow, an entry may evict others of this part of its use for each byte: at their next use they have to be made again. */
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
 * A cache of what is computed once per document, bounded in bytes. A new entry replaces those with the least use for each byte, so
 * neither a flood of documents nor those of an old release keep out what is used. A service's entries fill no more than its equal
 * part of the share of all services. If that part is full, they replace each other.
 */
export class DocumentCache<Value> {
  readonly #maxBytes: number;
  readonly #maxBytesOfService: number;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number, callers: Callers) {
    this.#maxBytes = maxBytes;
    this.#maxBytesOfService = sharesOf(maxBytes, callers).together / Math.max(callers.services, 1);
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
    this.#count(owner, bytes);
  }

  /** Lets an entry take more bytes. Returns false, and changes nothing, if the entries in its way are used too much, or it is gone. */
  grow(key: string, bytes: number): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    const use = usesOf(entry, performance.now()) / (entry.bytes + bytes);
    if (!this.#makeRoom(entry.owner, bytes, GROWS_OVER * use)) return false;
    entry.bytes += bytes;
    this.#count(entry.owner, bytes);
    return true;
  }

  /** Evicts entries with less than this use for each byte, the least first. Returns false, and evicts none, if that is not enough. */
  #makeRoom(owner: Holder, bytes: number, most: number): boolean {
    const share = owner.isService ? this.#maxBytesOfService : this.#maxBytes;
    const leftOfShare = share - (this.#bytesOf.get(owner.name) ?? 0);
    let left = Math.min(leftOfShare, this.#maxBytes - this.#bytes);
    if (bytes <= left) return true;
    const wanted = Math.min(bytes + share * SPARE, share);
    const now = performance.now();
    const victims = [];
    const candidates = [...this.#entries]
      .filter(([, entry]) => leftOfShare >= wanted || entry.owner.name === owner.name)
      .map(([key, entry]) => ({ key, entry, use: usesOf(entry, now) / entry.bytes }))
      .filter(({ use }) => use < most)
      .sort((one, other) => one.use - other.use);
    for (const candidate of candidates) {
      if (left >= wanted) break;
      victims.push(candidate);
      left += candidate.entry.bytes;
    }
    if (left < bytes) return false;
    for (const { key, entry } of victims) {
      this.#entries.delete(key);
      this.#count(entry.owner, -entry.bytes);
    }
    return true;
  }

  #count({ name }: Holder, bytes: number): void {
    this.#bytes += bytes;
    this.#bytesOf.set(name, (this.#bytesOf.get(name) ?? 0) + bytes);
  }
}
