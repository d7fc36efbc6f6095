import { randomBytes } from 'node:crypto';

/** What the client SDK returns for a solved challenge (captcha document, 2.1). Each value is opaque to the client. */
export interface Challenge {
  readonly lot_number: string;
  readonly captcha_output: string;
  readonly pass_token: string;
  /** Seconds since 1970, as digits. */
  readonly gen_time: string;
}

interface IssuedChallenge extends Challenge {
  readonly captchaId: string;
  readonly verified: boolean;
  readonly expired: boolean;
}

/** The challenges that were issued. */
export interface ChallengeStore {
  /** Issues a solved challenge for a captcha id. If the store is full, the oldest challenge is removed. */
  issue(captchaId: string): Challenge;
  /** The challenge with this lot number; undefined if it was never issued or was removed. */
  find(lotNumber: string): IssuedChallenge | undefined;
  /** Marks a challenge as verified, which can happen only once. */
  markVerified(lotNumber: string): void;
}

/** How many challenges a store holds. Each takes about 400 bytes, so a full store takes a few megabytes. */
const CAPACITY = 10_000;

/** A store in memory, whose challenges expire `lifetimeMs` ms after they were issued. */
export function createChallengeStore(lifetimeMs: number, capacity = CAPACITY): ChallengeStore {
  // A Map keeps the order of insertion, so its first key is the oldest challenge.
  const issued = new Map<string, Challenge & { captchaId: string; expiresAtMs: number; verified: boolean }>();

  function issue(captchaId: string): Challenge {
    const now = Date.now();
    const challenge = {
      lot_number: randomBytes(16).toString('hex'),
      captcha_output: randomBytes(96).toString('base64url'),
      pass_token: randomBytes(32).toString('hex'),
      gen_time: String(Math.floor(now / 1000)),
    };
    const [oldest] = issued.keys();
    if (issued.size >= capacity && oldest !== undefined) issued.delete(oldest);
    issued.set(challenge.lot_number, { ...challenge, captchaId, expiresAtMs: now + lifetimeMs, verified: false });
    return challenge;
  }

  function find(lotNumber: string): IssuedChallenge | undefined {
    const challenge = issued.get(lotNumber);
    return challenge && { ...challenge, expired: Date.now() >= challenge.expiresAtMs };
  }

  function markVerified(lotNumber: string): void {
    const challenge = issued.get(lotNumber);
    if (challenge) challenge.verified = true;
  }

  return { issue, find, markVerified };
}
