import { hash, timingSafeEqual } from 'node:crypto';

/** May whoever presents this value of `Router-Authorization` ask? */
export type Gate = (presented: string | string[] | undefined) => boolean;

/** A gate for those who know one of these secrets; with none configured it stands open. */
export function createGate(secrets: readonly string[]): Gate {
  const digests = secrets.map(digest);
  if (digests.length === 0) return () => true;
  return (presented) => {
    const given = digest(String(presented ?? ''));
    // Digests have one length, and every secret is compared: the time this takes tells nothing about any of them.
    return digests.map((expected) => timingSafeEqual(expected, given)).includes(true);
  };
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
