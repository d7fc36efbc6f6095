import { LRUCache } from 'lru-cache';

/** The name of a document's first operation, as routers and clients write it. */
const LEADING_NAME = /^\s*(?:query|mutation)\s+([_A-Za-z]\w*)/;

/**
 * The text under which a document is known, and the name of its first operation. The text has underscores for the name, because
 * a router names each operation after its client's, and sends the same selection under hundreds of names. The length of the name
 * stays, so that errors have the locations of the document that was sent. A document that begins otherwise has no name here, and
 * is known by its own text.
 */
export function keyOf(source: string): { readonly key: string; readonly name: string | undefined } {
  const [head = '', name] = LEADING_NAME.exec(source) ?? [];
  if (name === undefined) return { key: source, name };
  const key = head.slice(0, -name.length) + '_'.repeat(name.length) + source.slice(head.length);
  return { key, name };
}

/** The time in ms after its last use in which an entry makes no room for another. */
const IN_USE_MS = 60_000;

/**
 * Keeps what is computed once for a document, within a number of bytes. A full cache takes a new entry only in place of those
 * that were not used for a minute, the least recently used first. So a caller with endless different documents pushes out none
 * in use, and with more documents in use than fit, those that fit stay.
 */
export class DocumentCache<Key extends string | object, Value extends object> {
  readonly #entries: LRUCache<Key, { readonly value: Value; usedAt: number }>;
  readonly #inUseMs: number;

  constructor(maxBytes: number, inUseMs = IN_USE_MS) {
    this.#entries = new LRUCache({ maxSize: Math.floor(maxBytes) });
    this.#inUseMs = inUseMs;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry) entry.usedAt = performance.now();
    return entry?.value;
  }

  /** Adds an entry of this many bytes if there is room. */
  add(key: Key, value: Value, bytes: number): void {
    if (this.makeRoom(bytes)) this.#entries.set(key, { value, usedAt: performance.now() }, { size: bytes });
  }

  /** Is there room for an entry of this many bytes, once entries that are not in use are gone? */
  makeRoom(bytes: number): boolean {
    const entries = this.#entries;
    if (bytes > entries.maxSize) return false;
    while (entries.calculatedSize + bytes > entries.maxSize) {
      const { value: oldest } = entries.rvalues().next();
      if (oldest && performance.now() - oldest.usedAt < this.#inUseMs) return false;
      entries.pop();
    }
    return true;
  }
}
