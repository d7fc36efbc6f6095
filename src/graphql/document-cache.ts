import { type Callers, type Holder, SharedCount, sharesOf } from '../runtime/shares.ts';

/** More uses do not count, so that the entries of an old release are gone after as many rounds as this has bits. */
const MAX_USES = 15;

interface Entry<Value> {
  readonly value: Value;
  readonly owner: Holder;
  bytes: number;
  uses: number;
}

/**
 * A cache of what is computed once per document, bounded in bytes. If it is full, the oldest entry goes, unless it was used: then it
 * becomes the newest, with half of its uses. So a flood of documents that nobody asks for again evicts none that is used. A service
 * fills no more than its equal part of the share of all services. If that part is full, its own entries go.
 */
export class DocumentCache<Value> {
  readonly #maxBytes: number;
  readonly #shares: ReturnType<typeof sharesOf>;
  readonly #held = new SharedCount();
  /** The oldest entry is the first. */
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(maxBytes: number, callers: Callers) {
    const { together } = sharesOf(maxBytes, callers);
    this.#maxBytes = maxBytes;
    this.#shares = { together, each: together / Math.max(callers.services, 1) };
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry && entry.uses < MAX_USES) entry.uses += 1;
    return entry?.value;
  }

  /** Adds an entry of this many bytes, unless it is larger than the caller's share. */
  add(key: string, value: Value, bytes: number, { name, isService }: Holder): void {
    const owner = { name, isService };
    if (this.#entries.has(key) || !this.#makeRoom(owner, bytes, MAX_USES)) return;
    this.#entries.set(key, { value, owner, bytes, uses: 0 });
    this.#held.add(owner, bytes);
  }

  /** Lets an entry take more bytes. Returns false if only entries that were used are in its way, or it is gone. */
  grow(key: string, bytes: number): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    // It does not make room for itself.
    entry.uses ||= 1;
    if (!this.#makeRoom(entry.owner, bytes, 0)) return false;
    entry.bytes += bytes;
    this.#held.add(entry.owner, bytes);
    return true;
  }

  /** Evicts entries with up to this many uses until these bytes are free. Returns false if that is not enough. */
  #makeRoom(owner: Holder, bytes: number, maxUses: number): boolean {
    const fits = (total: number) => this.#held.hasRoom(total, this.#shares, owner, bytes);
    if (bytes > (owner.isService ? this.#shares.each : this.#maxBytes)) return false;
    const isShareFull = !fits(Number.POSITIVE_INFINITY);
    // What is added meanwhile is visited too.
    for (const [key, entry] of this.#entries) {
      if (fits(this.#maxBytes)) break;
      if (entry.uses > maxUses || (isShareFull && entry.owner.name !== owner.name)) continue;
      this.#entries.delete(key);
      if (entry.uses > 0) this.#entries.set(key, Object.assign(entry, { uses: entry.uses >> 1 }));
      else this.#held.add(entry.owner, -entry.bytes);
    }
    return fits(this.#maxBytes);
  }
}
