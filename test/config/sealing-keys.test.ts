import { describe, expect, test } from 'vitest';
import { newSealingKey } from '../../src/fingerprint/sealing-key.ts';
import { CANARY, LIVE, parse, problemsOf } from './support.ts';

/** SEALING_KEYS: 1 to 16 keys of 256 bits. No sentence about a wrong one shows what it is. */

const key = () => newSealingKey();
const listed = (...keys: unknown[]) => ({ ...LIVE, SEALING_KEYS: JSON.stringify(keys) });
const EXPECTED =
  'SEALING_KEYS: expected a JSON list of 1 to 16 keys {"kty":"oct", "k", "kid"}, k 32 bytes as base64url, with different kids and different k, but got a value that does not fit';

test('there are none by default', () => {
  expect(parse(LIVE).sealingKeys).toEqual([]);
});

test('the keys that are made here are accepted, in their order, up to sixteen', () => {
  const keys = Array.from({ length: 16 }, key);
  expect(parse(listed(...keys)).sealingKeys).toEqual(keys);
});

test('a file may hold them', () => {
  const keys = [key()];
  const files = { '/secrets/sealing': `${JSON.stringify(keys)}\n` };
  expect(parse({ ...LIVE, SEALING_KEYS_FILE: '/secrets/sealing' }, files).sealingKeys).toEqual(keys);
});

describe('the sentence about a wrong value', () => {
  test.each<[string, unknown[], string]>([
    ['no key', [], 'expected at least one entry'],
    ['seventeen keys', Array.from({ length: 17 }, key), 'expected at most 16 entries'],
    [
      'a key of 128 bits',
      [{ ...key(), k: Buffer.alloc(16, 7).toString('base64url') }],
      '0.k: expected 32 bytes as base64url',
    ],
    [
      'a key of 264 bits',
      [{ ...key(), k: Buffer.alloc(33, 7).toString('base64url') }],
      '0.k: expected 32 bytes as base64url',
    ],
    [
      'a key as base64',
      [{ ...key(), k: Buffer.alloc(32, 0xff).toString('base64') }],
      '0.k: expected 32 bytes as base64url',
    ],
    ['a key with spare bits', [{ ...key(), k: `${'A'.repeat(42)}B` }], '0.k: expected 32 bytes as base64url'],
    ['a key of another kind', [{ ...key(), kty: 'EC' }], '0.kty: expected oct'],
    [
      'a key without a name',
      [{ ...key(), kid: undefined }],
      '0.kid: expected 1 to 64 letters, digits, ".", "_" or "-", but it is missing',
    ],
    ['a name with a space', [{ ...key(), kid: 'a b' }], '0.kid: expected 1 to 64 letters, digits, ".", "_" or "-"'],
    ['one more member', [{ ...key(), state: 'active' }], '0: expected no unknown key "state"'],
    [
      'two keys with one name',
      [
        { ...key(), kid: 'a' },
        { ...key(), kid: 'a' },
      ],
      'expected no two entries with the same kid',
    ],
  ])('for %s', (_what, keys, mistake) => {
    expect(problemsOf(listed(...keys))).toEqual([`${EXPECTED} (${mistake}).`]);
  });

  test('for one key under two names', () => {
    const one = key();
    expect(problemsOf(listed(one, { ...one, kid: 'again' }))).toEqual([
      `${EXPECTED} (expected no two entries with the same k).`,
    ]);
  });

  test('names every mistake at once, and quotes none of them', () => {
    const wrong = [{ kty: CANARY, k: `${CANARY}-key`, kid: `${CANARY} kid` }, { [`${CANARY}!`]: CANARY }];
    const problems = problemsOf(listed(...wrong));
    expect(problems).toHaveLength(1);
    for (const path of ['0.kty', '0.k', '0.kid', '1.kty', '1.k', '1.kid']) expect(problems[0]).toContain(`${path}: `);
    expect(problems[0]).not.toContain(CANARY);
  });

  test('for what is not JSON does not quote it', () => {
    expect(problemsOf({ ...LIVE, SEALING_KEYS: `[{"k":"${CANARY}"` })).toEqual([`${EXPECTED} (it is not JSON).`]);
  });

  test('for the placeholder of the documentation', () => {
    expect(problemsOf(listed({ ...key(), k: '<32 bytes as base64url>' }))[1]).toBe(
      'SEALING_KEYS: expected a value of your own at 0.k, but got the placeholder of the documentation.',
    );
  });
});
