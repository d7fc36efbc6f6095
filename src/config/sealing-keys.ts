import { listOf, oneOf, textThat } from './values.ts';

const MAX_KEYS = 16;

/** 43 characters. The last one has two spare bits, which are zero in what an encoder writes. */
const bytes = textThat('32 bytes as base64url', (text) => /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text));

/** It stands in each record that the key sealed. */
const keyId = textThat('1 to 64 letters, digits, ".", "_" or "-"', (text) => /^[\w.-]{1,64}$/.test(text));

/** Keys that seal judgements. */
export const sealingKeyList = {
  expected: `a JSON list of 1 to ${MAX_KEYS} keys {"kty":"oct", "k", "kid"}, k 32 bytes as base64url, with different kids and different k`,
  schema: listOf({ kty: oneOf(['oct']), k: bytes, kid: keyId }, 'kid').superRefine((keys, context) => {
    const report = (message: string) => context.addIssue({ code: 'custom', message });
    if (keys.length > MAX_KEYS) report(`expected at most ${MAX_KEYS} entries`);
    // An old key under a new name would be taken for a rotation.
    if (new Set(keys.map((key) => Object(key).k)).size < keys.length) report('expected no two entries with the same k');
  }),
};
