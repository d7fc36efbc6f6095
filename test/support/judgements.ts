import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SealingKey } from '../../src/fingerprint/sealing-key.ts';

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
