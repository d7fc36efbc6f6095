import { createHmac, randomBytes } from 'node:crypto';

/** The only form in which a token may stand in a log: short, keyed, the same for the same token. */
export type HashToken = (token: string) => string;

/** With no key a random one is made: lines of one process can be compared then, and those of another not. */
export function createTokenHash(key: string | Buffer = randomBytes(32)): HashToken {
  return (token) => createHmac('sha256', key).update(token).digest('hex').slice(0, 12);
}
