import { createHash } from 'node:crypto';

/** The tokens that were asked about. */
export interface UsedTokens {
  /** Remembers a token. True if it was remembered before. */
  use(deviceToken: string): boolean;
}

/** How many tokens are remembered. Each takes about 150 bytes, so a full memory takes 1.5 MB. */
const CAPACITY = 10_000;

/** A memory of tokens for as long as the sandbox runs. When it is full, the token that was asked about first is forgotten. */
export function createUsedTokens(capacity = CAPACITY): UsedTokens {
  // Digests, because a token may be as long as a body. A Set keeps the order of insertion.
  const digests = new Set<string>();
  return {
    use: (deviceToken) => {
      const digest = createHash('sha256').update(deviceToken).digest('base64');
      if (digests.has(digest)) return true;
      const [oldest] = digests;
      if (digests.size >= capacity && oldest !== undefined) digests.delete(oldest);
      digests.add(digest);
      return false;
    },
  };
}
