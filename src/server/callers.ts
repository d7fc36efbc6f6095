import { timingSafeEqual } from 'node:crypto';

/** No configured secret has more bytes. */
const MAX_BYTES = 256;

/** Who may send GraphQL requests: the callers that know one of the router's secrets, or anyone if there are none. */
export class Callers {
  #secrets: readonly Buffer[];
  /** One buffer serves all comparisons, because nothing is awaited while it is in use. */
  readonly #presented = Buffer.alloc(MAX_BYTES);

  constructor(routerSecrets: readonly string[]) {
    this.#secrets = routerSecrets.map(toPadded);
  }

  /** Replaces all secrets at once, for a rotation. */
  replaceSecrets(routerSecrets: readonly string[]): void {
    this.#secrets = routerSecrets.map(toPadded);
  }

  /** May a request with this value of `Router-Authorization` ask? */
  isAllowed(presented: string | string[] = ''): boolean {
    if (this.#secrets.length === 0) return true;
    const text = String(presented);
    if (text.length > MAX_BYTES) return false;
    writePadded(this.#presented, text);
    // All buffers have the same length, and every secret is compared, so the time reveals nothing about any of them.
    let isKnown = false;
    for (const secret of this.#secrets) isKnown = timingSafeEqual(secret, this.#presented) || isKnown;
    return isKnown;
  }
}

function toPadded(secret: string): Buffer {
  return writePadded(Buffer.alloc(MAX_BYTES), secret);
}

/** Fills the rest with zeros, which no secret contains. */
function writePadded(bytes: Buffer, text: string): Buffer {
  bytes.fill(0, bytes.write(text, 'latin1'));
  return bytes;
}
