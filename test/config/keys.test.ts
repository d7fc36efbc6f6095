import { describe, expect, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation.ts';
import { SANDBOX_ATTESTATION_KEY } from '../../src/captcha/settings.ts';
import { newSealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import { SANDBOX_SEALING_KEY } from '../../src/fingerprint/settings.ts';
import { CANARY, ID, LIVE, parse, problemsOf, REST } from './support.ts';

/** The variables with what signs and seals. No sentence about a wrong one shows what it is. */

const ISSUER = 'https://device-trust.test';
const ORDERS = { id: 'orders', actions: ['placeOrder'] };
const KEY = generateKey('active');
const KEYS = JSON.stringify([KEY]);
const settings = (changes: object = {}) => JSON.stringify({ issuer: ISSUER, audiences: [ORDERS], ...changes });
/** Says who asks on whose behalf, as an attestation requires it. */
const NAMING = { ...REST, ROUTER_SECRETS: 'secret-of-the-router', TRUSTED_HEADERS: '{"subject":"x-user-id"}' };
const both = (ATTESTATION = settings(), ATTESTATION_KEYS = KEYS) => ({ ...NAMING, ATTESTATION, ATTESTATION_KEYS });

describe('what is accepted', () => {
  test('ATTESTATION needs an issuer and an audience, and has defaults for the rest', () => {
    expect(parse(both())).toMatchObject({
      attestation: { issuer: ISSUER, lifetimeSeconds: 120, audiences: [{ ...ORDERS, subject: 'required' }] },
      attestationKeys: [KEY],
    });
  });

  test('ATTESTATION is accepted with everything, and its issuer is kept as it is written', () => {
    const audience = { id: 'a-b_c.d:1', actions: ['one', 'two'], subject: 'optional', captchaIds: [ID] };
    const text = settings({ issuer: `${ISSUER}/`, lifetimeSeconds: 240, audiences: [audience] });
    expect(parse(both(text)).attestation).toEqual(JSON.parse(text));
  });
});

const NAME = 'expected 1 to 64 letters, digits, ".", "_", ":" or "-"';
const ADDRESS = 'issuer: expected an https address without user, query or fragment';
const LIFETIME = 'lifetimeSeconds: expected a whole number from 10 to 240';
const SAME = 'audiences: expected no two entries with the same id';
const SUBJECT = 'audiences.0.subject: expected required or optional';
const CAPTCHA_ID = 'audiences.0.captchaIds.0: expected 32 visible ASCII characters';
const TWICE = 'audiences.0.actions: expected no text twice';
const audiences = (...list: object[]) => settings({ audiences: list });
const orders = (changes: object) => audiences({ ...ORDERS, ...changes });
test.each<[string, string, string]>([
  ['no issuer', settings({ issuer: undefined }), `${ADDRESS}, but it is missing`],
  ['plain http', settings({ issuer: 'http://device-trust.test' }), ADDRESS],
  ['a lifetime beyond 240', settings({ lifetimeSeconds: 241 }), LIFETIME],
  ['a lifetime as a text', settings({ lifetimeSeconds: '120' }), LIFETIME],
  ['no audience', audiences(), 'audiences: expected at least one entry'],
  ['an id twice', audiences(ORDERS, ORDERS), SAME],
  ['an id with a space', orders({ id: 'the orders' }), `audiences.0.id: ${NAME}`],
  ['no action', orders({ actions: [] }), 'audiences.0.actions: expected at least one entry'],
  ['an action twice', orders({ actions: ['a', 'a'] }), TWICE],
  ['another subject', orders({ subject: 'never' }), SUBJECT],
  ['a short captcha id', orders({ captchaIds: ['a'] }), CAPTCHA_ID],
  ['a mistyped key', orders({ action: [] }), 'audiences.0: expected no unknown key "action"'],
])('ATTESTATION with %s: the sentence names each path that is wrong', (_what, text, places) => {
  expect(problemsOf(both(text))).toEqual([
    expect.stringMatching(/^ATTESTATION: expected JSON such as .*, but got a wrong value \(/),
  ]);
  expect(problemsOf(both(text))[0]).toContain(`(${places}).`);
});

const other = generateKey('next');
const second = (changes: object) => JSON.stringify([KEY, { ...other, ...changes }]);
const BYTES = '1.d: expected 32 random bytes as base64url';
const PAIR = '1: expected a private key d with its own public key x and y';
test.each<[string, string, string]>([
  ['no key', '[]', 'expected at least one entry'],
  ['no active key', JSON.stringify([other]), 'expected exactly one active key'],
  ['two active keys', second({ state: 'active' }), 'expected exactly one active key'],
  ['a kid twice', second({ kid: KEY.kid }), 'expected no two entries with the same kid'],
  ['another state', second({ state: CANARY }), '1.state: expected next, active or retired'],
  ['another type', second({ kty: 'RSA' }), '1.kty: expected EC'],
  ['another curve', second({ crv: 'P-384' }), '1.crv: expected P-256'],
  ['a public key', second({ d: undefined }), `${BYTES}, but it is missing`],
  ['a private key that was cut', second({ d: other.d.slice(1) }), BYTES],
  ['the private key of another one', second({ d: KEY.d }), PAIR],
  ['a public key that is not on the curve', second({ x: other.y, y: other.x }), PAIR],
  ['a private key of 0', second({ d: 'A'.repeat(43) }), BYTES],
  ['several mistakes', second({ d: CANARY, state: CANARY }), `1.state: expected next, active or retired; ${BYTES}`],
])('ATTESTATION_KEYS with %s: the sentence names each path that is wrong, and never a value', (_what, text, places) => {
  const problems = problemsOf(both(settings(), text));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^ATTESTATION_KEYS: expected a JSON list of private keys .*, but got a wrong value/);
  expect(problems[0]).toContain(`(${places}).`);
  for (const secret of [CANARY, KEY.d, other.d]) expect(problems.join()).not.toContain(secret);
});

describe('together', () => {
  test('ATTESTATION and ATTESTATION_KEYS need each other', () => {
    const sentence = 'ATTESTATION: expected ATTESTATION_KEYS as well, or neither, but got one of them.';
    expect(problemsOf({ ...NAMING, ATTESTATION: settings() })).toEqual([sentence]);
    expect(problemsOf({ ...NAMING, ATTESTATION_KEYS: KEYS })).toEqual([sentence]);
  });

  test('an audience that requires a person needs the header that names the person, in each mode', () => {
    const sentence =
      'ATTESTATION: expected "subject" in TRUSTED_HEADERS for the audience "orders", or "subject":"optional" for it, but got neither.';
    const { TRUSTED_HEADERS: _, ...nameless } = both();
    const sandbox = { UPSTREAM_MODE: 'sandbox', ATTESTATION: settings() };
    for (const env of [nameless, { ...nameless, TRUSTED_HEADERS: '{"scopes":"x-scopes"}' }, sandbox])
      expect(problemsOf(env)).toEqual([sentence]);
    // Headers that are wrong have their own sentence.
    expect(problemsOf({ ...nameless, TRUSTED_HEADERS: '{"subject":"cookie"}' })).toHaveLength(1);
    const optional = settings({ audiences: [{ ...ORDERS, subject: 'optional' }] });
    expect(problemsOf({ ...nameless, ATTESTATION: optional })).toEqual([]);
    expect(problemsOf({ ...sandbox, ATTESTATION: optional })).toEqual([]);
    expect(problemsOf({ ...sandbox, TRUSTED_HEADERS: NAMING.TRUSTED_HEADERS })).toEqual([]);
  });

  test('a captcha id of an audience has to be configured', () => {
    const text = settings({ audiences: [{ ...ORDERS, captchaIds: [ID, 'b'.repeat(32)] }] });
    expect(problemsOf(both(text))).toEqual([
      'ATTESTATION: expected captcha ids of CAPTCHA_CONFIGURATIONS for the audience "orders", but got another one.',
    ]);
  });

  test('the keys of the sandbox are refused in live mode under any name, because they are public', () => {
    const attesting = [{ ...SANDBOX_ATTESTATION_KEY, kid: 'ours' }];
    const sealing = [newSealingKey(), { ...SANDBOX_SEALING_KEY, kid: 'ours' }];
    const env = { ...both(settings(), JSON.stringify(attesting)), SEALING_KEYS: JSON.stringify(sealing) };
    expect(problemsOf(env)).toEqual(
      ['SEALING_KEYS', 'ATTESTATION_KEYS'].map(
        (name) => `${name}: expected keys of your own, but got the key of the sandbox, which is public.`,
      ),
    );
  });
});

describe('keys as other tools write them (RFC 7517, section 4): what they add is accepted if it fits', () => {
  const { kid, state, ...pair } = KEY;
  const sealing = newSealingKey();
  const attesting = (changes: object) => both(settings(), JSON.stringify([{ ...KEY, ...changes }]));
  const sealed = (changes: object) => ({ ...LIVE, SEALING_KEYS: JSON.stringify([{ ...sealing, ...changes }]) });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['as a signature', attesting({ alg: 'ES256', use: 'sig' })],
    ['for operations', attesting({ key_ops: ['verify', 'sign'], ext: false })],
    ['in another order', both(settings(), JSON.stringify([{ use: 'sig', ...pair, state, kid }]))],
    ['with members of no concern here, which are ignored', attesting({ iat: 1, x5t: 'abc', [CANARY]: CANARY })],
    ['as an encryption', sealed({ alg: 'A256KW', use: 'enc', key_ops: ['unwrapKey', 'wrapKey'], ext: true })],
    ['with a time as its name', sealed({ kid: 'enc-2026-11-22T18:00:00Z' })],
  ])('a key as other tools write it, %s, is accepted', (_what, env) => {
    expect(problemsOf(env)).toEqual([]);
  });

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['alg', attesting({ alg: 'ES384' }), 'expected ES256'],
    ['use', attesting({ use: 'enc' }), 'expected sig'],
    ['key_ops', attesting({ key_ops: ['verify'] }), 'expected a list with sign'],
    ['ext', attesting({ ext: CANARY }), 'expected true or false'],
    ['alg', sealed({ alg: CANARY }), 'expected A256KW'],
    ['use', sealed({ use: 'sig' }), 'expected enc'],
    ['key_ops', sealed({ key_ops: ['unwrapKey'] }), 'expected a list with wrapKey and unwrapKey'],
  ])('a contradicting %s is refused: %#', (member, env, expected) => {
    const problems = problemsOf(env);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`(0.${member}: ${expected}).`);
    for (const secret of [CANARY, KEY.d, sealing.k]) expect(problems[0]).not.toContain(secret);
  });
});

describe('SEALING_KEYS: 1 to 16 keys of 256 bits', () => {
  const listed = (...keys: unknown[]) => ({ ...LIVE, SEALING_KEYS: JSON.stringify(keys) });
  const changed = (changes: object) => ({ ...newSealingKey(), ...changes });
  const many = (length: number) => Array.from({ length }, newSealingKey);
  const bytes = (count: number, encoding: BufferEncoding = 'base64url') => Buffer.alloc(count, 0xff).toString(encoding);
  const ONE = newSealingKey().k;
  const BYTES = 'k: expected 32 random bytes as base64url';
  const KID = 'kid: expected 1 to 64 letters, digits, ".", "_", ":" or "-"';
  const same = (id: string) => `expected no two entries with the same ${id}`;

  test('the keys that are made here are accepted, in their order, up to sixteen', () => {
    const keys = many(16);
    expect(parse(listed(...keys)).sealingKeys).toEqual(keys);
  });

  test.each<[string, unknown[], string]>([
    ['no key', [], 'expected at least one entry'],
    ['seventeen keys', many(17), 'expected at most 16 entries'],
    ['a key of 128 bits', [changed({ k: bytes(16) })], `0.${BYTES}`],
    ['a key of 264 bits', [changed({ k: bytes(33) })], `0.${BYTES}`],
    ['a key as base64', [changed({ k: bytes(32, 'base64') })], `0.${BYTES}`],
    ['a key of zeros', [changed({ k: 'A'.repeat(43) })], `0.${BYTES}`],
    ['a key with spare bits', [changed({ k: `${'A'.repeat(42)}B` })], `0.${BYTES}`],
    ['a key of another kind', [changed({ kty: 'EC' })], '0.kty: expected oct'],
    ['a key without a name', [changed({ kid: undefined })], `0.${KID}, but it is missing`],
    ['a name with a space', [changed({ kid: 'a b' })], `0.${KID}`],
    ['two keys with one name', [changed({ kid: 'a' }), changed({ kid: 'a' })], same('kid')],
    ['one key under two names', [changed({ k: ONE }), changed({ k: ONE })], same('k')],
  ])('SEALING_KEYS with %s is refused', (_what, keys, mistakes) => {
    expect(problemsOf(listed(...keys))).toEqual([
      `SEALING_KEYS: expected a JSON list of 1 to 16 keys {"kty":"oct", "k", "kid"}, k 32 bytes as base64url, with different kids and different k, but got a wrong value (${mistakes}).`,
    ]);
  });
});
