import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompactEncrypt } from 'jose';
import type { SealingKey } from '../../src/fingerprint/sealed-judgement.ts';

/** Keys that seal judgements in tests. */

export const [NEW_KEY, OLD_KEY]: readonly [SealingKey, SealingKey] = [
  { kty: 'oct', k: Buffer.alloc(32, 2).toString('base64url'), kid: 'new' },
  { kty: 'oct', k: Buffer.alloc(32, 1).toString('base64url'), kid: 'old' },
];

export const SEALING_KEYS: readonly SealingKey[] = [NEW_KEY, OLD_KEY];

/** Judgements that were sealed long ago, each with its key. */
export function sealedJudgements(): readonly { readonly key: SealingKey; readonly sealed: string }[] {
  return ['android', 'web'].map((name) =>
    JSON.parse(readFileSync(join(import.meta.dirname, `../fixtures/judgement-v1.${name}.json`), 'utf8')),
  );
}

/** Any text as a JWE by another implementation, in the form of a sealed judgement but for these parameters of the header. */
export function sealRecord(
  text: string,
  changes: Record<string, unknown> = {},
  { k }: { readonly k: string } = NEW_KEY,
) {
  const header = { alg: 'A256KW', enc: 'A256GCM', kid: NEW_KEY.kid, typ: 'device-judgement+jwe', ...changes };
  return new CompactEncrypt(Buffer.from(text)).setProtectedHeader(header).encrypt(Buffer.from(k, 'base64url'));
}
