import { timingSafeEqual } from 'node:crypto';

/** May whoever presents this value of `Router-Authorization` ask? */
export type Gate = (presented: string | string[] | undefined) => boolean;

/** No configured secret is longer. */
const MAX_BYTES = 256;

/** A gate for those who know one of these secrets; with none configured it stands open. */
export function createGate(secrets: readonly string[]): Gate {
  if (secrets.length === 0) return () => true;
  const known = secrets.map(padded);
  return (presented = '') => {
    const text = String(presented);
    if (text.length > MAX_BYTES) return false;
    const given = padded(text);
    // All have one length, and every secret is compared: the time this takes tells nothing about any of them.
    let isKnown = false;
    for (const secret of known) isKnown = timingSafeEqual(secret, given) || isKnown;
    return isKnown;
  };
}

/** Visible ASCII never pads. */
function padded(text: string): Buffer {
  const bytes = Buffer.alloc(MAX_BYTES);
  bytes.write(text, 'latin1');
  return bytes;
}
