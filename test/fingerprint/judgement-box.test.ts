import fc from 'fast-check';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { describe, expect, test } from 'vitest';
import { JudgementBox } from '../../src/fingerprint/judgement-box.ts';
import { newSealingKey } from '../../src/fingerprint/sealing-key.ts';
import { NEW_KEY, OLD_KEY } from '../support/judgements.ts';

/** The box writes and reads JWE as RFC 7516 has it. `jose` is the independent implementation. */

const TYPE = 'device-judgement+jwe';
const HEADER = { alg: 'A256KW', enc: 'A256GCM', kid: NEW_KEY.kid, typ: TYPE };
const box = new JudgementBox(TYPE, [NEW_KEY, OLD_KEY]);
const bytesOf = ({ k }: { readonly k: string }) => Buffer.from(k, 'base64url');
const seal = (text: string, by = box) => by.seal(text) ?? 'nothing';

/** Seals with jose, with another header or key. */
function sealByJose(text: string, changes: Record<string, unknown> = {}, key: Uint8Array = bytesOf(NEW_KEY)) {
  const header = { ...HEADER, ...changes };
  return new CompactEncrypt(Buffer.from(text)).setProtectedHeader(header).encrypt(key);
}

describe('another implementation', () => {
  test('opens what the box seals, and finds the documented header', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 2_000 }), async (text) => {
        const { plaintext, protectedHeader } = await compactDecrypt(seal(text), bytesOf(NEW_KEY));
        expect([Buffer.from(plaintext).toString(), protectedHeader]).toEqual([text, HEADER]);
      }),
      { numRuns: 15 },
    );
  });

  test('seals what the box opens', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 2_000 }), async (text) => {
        expect(box.open(await sealByJose(text))).toBe(text);
      }),
      { numRuns: 15 },
    );
  });
});

describe('what is not, as a whole, a text that was sealed, is not opened', () => {
  const sealed = seal('{"v":1}');

  test('with any character changed', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      for (const other of ['A', 'B', '_', '.', ' ', '=', 'é']) {
        if (sealed[at] === other) continue;
        const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
        expect(box.open(changed), `${other} at ${at}`).toBeUndefined();
      }
    }
  });

  test('with any bit of its bytes flipped', () => {
    const parts = sealed.split('.');
    for (const [at, part] of parts.entries()) {
      const bytes = Buffer.from(part, 'base64url');
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(box.open(parts.with(at, flipped.toString('base64url')).join('.'))).toBeUndefined();
      }
    }
  });

  test('cut, extended or padded anywhere', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      expect(box.open(sealed.slice(0, at))).toBeUndefined();
      expect(box.open(sealed.slice(at + 1))).toBeUndefined();
      for (const more of ['A', '=', '\n', '.A']) {
        expect(box.open(sealed.slice(0, at) + more + sealed.slice(at)), `${more} at ${at}`).toBeUndefined();
      }
    }
    for (const more of ['.', '==', '\n', 'AAAA', '.AAAA']) expect(box.open(sealed + more)).toBeUndefined();
  });

  test('with a part of another sealed text', () => {
    const other = seal('{"v":1}').split('.');
    for (const [at, part] of other.entries()) {
      if (at === 0) continue;
      expect(box.open(sealed.split('.').with(at, part).join('.'))).toBeUndefined();
    }
  });

  test('of any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void expect(box.open(text)).toBeUndefined()));
    for (const text of ['', '....', '.'.repeat(200_000), 'A'.repeat(10_000_000)]) {
      expect(box.open(text)).toBeUndefined();
    }
  });

  test.each<[string, Record<string, unknown>, Uint8Array?]>([
    ['another type', { typ: 'JWT' }],
    ['no type', { typ: undefined }],
    ['another encryption of the content', { enc: 'A256CBC-HS512' }],
    ['another wrapping', { alg: 'A256GCMKW' }],
    ['no wrapping', { alg: 'dir' }],
    ['the password wrapping', { alg: 'PBES2-HS256+A128KW' }],
    ['the name of no key', { kid: 'lost' }],
    ['no name of a key', { kid: undefined }],
    ['the name of another key', { kid: OLD_KEY.kid }],
    ['a key that is not ours', {}, bytesOf(newSealingKey())],
    ['one more parameter', { cty: 'json' }],
  ])('with %s', async (_what, changes, key) => {
    expect(box.open(await sealByJose('{"v":1}', changes, key))).toBeUndefined();
  });
});

describe('keys', () => {
  test('the first one seals, and all of them open', async () => {
    const old = new JudgementBox(TYPE, [OLD_KEY]);
    expect(box.open(seal('text', old))).toBe('text');
    expect(old.open(seal('text'))).toBeUndefined();
    expect((await compactDecrypt(seal('text'), bytesOf(NEW_KEY))).protectedHeader.kid).toBe('new');
  });

  test('a removed one opens nothing more', () => {
    const rotated = new JudgementBox(TYPE, [OLD_KEY]);
    const sealed = seal('text', rotated);
    rotated.replaceKeys([NEW_KEY, OLD_KEY]);
    expect(rotated.open(sealed)).toBe('text');
    rotated.replaceKeys([NEW_KEY]);
    expect(rotated.open(sealed)).toBeUndefined();
  });

  test('without one nothing is sealed or opened', () => {
    const none = new JudgementBox(TYPE, []);
    expect([none.canSeal, none.seal('text'), none.open(seal('text'))]).toEqual([false, undefined, undefined]);
  });

  test('a new one has 256 random bits and a name of its own', () => {
    const keys = Array.from({ length: 100 }, newSealingKey);
    expect(new Set(keys.map(({ k }) => k)).size).toBe(100);
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(100);
    expect(keys.every((key) => key.kty === 'oct' && bytesOf(key).length === 32)).toBe(true);
  });
});

test('the same text is sealed differently each time', () => {
  const parts = Array.from({ length: 50 }, () => seal('text').split('.'));
  for (const at of [1, 2, 3, 4]) expect(new Set(parts.map((part) => part[at])).size).toBe(50);
});

test('what would be too long to be opened is not sealed', () => {
  const longest = 196_000;
  expect(box.open(seal('x'.repeat(longest)))).toBe('x'.repeat(longest));
  expect(box.seal('x'.repeat(200_000))).toBeUndefined();
});
