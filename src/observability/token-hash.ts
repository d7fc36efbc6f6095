import { createHmac, randomBytes } from 'node:crypto';

/** Makes the only form in which a token may be logged: 12 hexadecimal digits of a keyed hash, always the same for a token. */
export type HashToken = (token: string) => string;

/** Without a key a random one is made; hashes of different processes cannot be compared then. */
export function createTokenHash(key: string | Buffer = randomBytes(32)): HashToken {
  return (token) => createHmac('sha256', key).update(token).digest('hex').slice(0, 12);
}
