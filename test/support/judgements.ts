import type { SealingKey } from '../../src/fingerprint/sealing-key.ts';

/** Keys that seal judgements in tests. */

export const [NEW_KEY, OLD_KEY]: readonly [SealingKey, SealingKey] = [
  { kty: 'oct', k: Buffer.alloc(32, 2).toString('base64url'), kid: 'new' },
  { kty: 'oct', k: Buffer.alloc(32, 1).toString('base64url'), kid: 'old' },
];

export const SEALING_KEYS: readonly SealingKey[] = [NEW_KEY, OLD_KEY];
