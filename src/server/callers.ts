import { timingSafeEqual } from 'node:crypto';

/** May whoever presents this value of `Router-Authorization` ask? */
export type Gate = (presented: string | string[] | undefined) => boolean;

/** No configured secret is longer. */
const MAX_BYTES = 256;

/** A gate for those who know one of these secrets; with none configured it stands open. */
export function createGate(secrets: readonly string[]): Gate {
  if (secrets.length === 0) return () => true;
  const known = secrets.map((secret) => pad(Buffer.alloc(MAX_BYTES), secret));
  // One for all: nothing is awaited while it is in use.
  const given = Buffer.alloc(MAX_BYTES);
  return (presented = '') => {
    const text = String(presented);
    if (text.length > MAX_BYTES) return false;
    pad(given, text);
    // All have one length, and every secret is compared: the time this takes tells nothing about any of them.
    let isKnown = false;
    for (const secret of known) isKnown = timingSafeEqual(secret, given) || isKnown;
    return isKnown;
  };
}

/** Zeros fill the rest; no secret has one. */
function pad(bytes: Buffer, text: string): Buffer {
  bytes.fill(0, bytes.write(text, 'latin1'));
  return bytes;
}
