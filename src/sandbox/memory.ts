import { LRUCache } from 'lru-cache';

/** The values that the client SDK returns for a solved challenge (captcha document, 2.1). Each value is opaque to the client. */
export interface Challenge {
  readonly lot_number: string;
  readonly captcha_output: string;
  readonly pass_token: string;
  /** Seconds since 1970, as digits. */
  readonly gen_time: string;
}

interface IssuedChallenge extends Challenge {
  readonly captchaId: string;
  readonly expiresAtMs: number;
  isVerified: boolean;
}

/** How many challenges and how many tokens are kept; of more, the first is forgotten. Each takes some hundred bytes. */
const CAPACITY = 10_000;

/** The challenges of all regions, so that a challenge in the wrong one is recognised as one of another captcha id. */
export class Memory {
  readonly challenges = new LRUCache<string, IssuedChallenge>({ max: CAPACITY });
  /** Digests of the tokens for one query, because a token may be as long as a body. */
  readonly usedTokens = new LRUCache<string, true>({ max: CAPACITY });
}
