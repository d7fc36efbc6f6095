import { randomBytes } from 'node:crypto';

/** A key that seals judgements: a JWK of 256 bits (RFC 7517; RFC 7518, section 6.4). */
export interface SealingKey {
  readonly kty: 'oct';
  /** 32 bytes as base64url. */
  readonly k: string;
  /** Names the key in each record that it sealed. */
  readonly kid: string;
}

/** A new random key, named by the day and four random bytes, so that no two days and no two keys of a day share a name. */
export function newSealingKey(): SealingKey {
  const day = new Date().toISOString().slice(0, 10);
  return {
    kty: 'oct',
    k: randomBytes(32).toString('base64url'),
    kid: `seal-${day}-${randomBytes(4).toString('hex')}`,
  };
}
