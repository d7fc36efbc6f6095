import { randomBytes } from 'node:crypto';

/** What a client holds after solving a challenge (captcha document, 2.1); every value is opaque to it. */
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

/** The challenges that were issued and are still remembered. */
export interface ChallengeStore {
  /** Issues a solved challenge for a captcha id. The oldest one is forgotten when the store is full. */
  issue(captchaId: string): Challenge;
  /** The challenge with this lot number; undefined if it was never issued or is forgotten. */
  find(lotNumber: string): IssuedChallenge | undefined;
  /** Notes that a challenge was verified: it cannot be a second time. */
  markVerified(lotNumber: string): void;
}

/** How many challenges are remembered; with about 400 bytes each this bounds the memory to a few megabytes. */
const CHALLENGE_CAPACITY = 10_000;

/** A store whose challenges expire `lifetimeMs` milliseconds after they were issued. */
export function createChallengeStore(lifetimeMs: number, capacity = CHALLENGE_CAPACITY): ChallengeStore {
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
