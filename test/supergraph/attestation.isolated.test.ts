import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createVerifier } from '../../schema/recipes/attestation.ts';
import { openDatabase } from './orders/database.ts';
import { createSigner, goodClaims, ISSUER, startKeyServer } from './signer.ts';

/** What the verification of the order subgraph takes from the clock and from the key set. The clock is a fake one. */

const signer = await createSigner();
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const keys = [signer.publicJwk, { ...publicKey.export({ format: 'jwk' }), kid: 'other' }];
const keyServer = await startKeyServer(keys);
const { jwksUrl } = keyServer;
const verify = createVerifier({ jwksUrl, issuer: ISSUER, audience: 'orders', subject: 'required' });
const NOW = 1_800_000_000;
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW * 1_000 });
});
beforeEach(() => {
  keyServer.keys = keys;
});
afterAll(async () => {
  vi.useRealTimers();
  await keyServer.stop();
});

const verdictOf = async (token: string) => {
  const verdict = await verify(token, 'placeOrder', 'user-1');
  return typeof verdict === 'string' ? verdict : verdict.assurance;
};

test.each([
  ['expired 4 s ago', { iat: NOW - 124, exp: NOW - 4 }, 'verified'],
  ['expired 6 s ago', { iat: NOW - 126, exp: NOW - 6 }, 'EXPIRED'],
  ['issued in 5 s', { iat: NOW + 5, exp: NOW + 125 }, 'verified'],
  ['issued in 6 s', { iat: NOW + 6, exp: NOW + 126 }, 'INVALID'],
  ['not valid for another 5 s', { nbf: NOW + 5 }, 'verified'],
  ['not valid for another 6 s', { nbf: NOW + 6 }, 'INVALID'],
])('the clock may differ by 5 s: a token that was, or is, %s', async (_when, claims, expected) => {
  expect(await verdictOf(await signer.sign(claims))).toBe(expected);
});

test('a proof places one order, whatever the clocks of two replicas say, even if it was signed for 300 s', async () => {
  const database = openDatabase(':memory:');
  const token = await signer.sign({ iat: NOW, exp: NOW + 300 });
  const placedAt = async (seconds: number) => {
    vi.setSystemTime((NOW + seconds) * 1_000);
    const proof = await verify(token, 'placeOrder', 'user-1');
    if (typeof proof === 'string') return proof;
    const checkout = database.start('user-1', randomUUID(), { name: 'Pen', priceCents: 200 });
    return database.place(checkout, 'VERIFIED', proof.jti);
  };
  expect(await placedAt(-5)).toBe('PLACED');
  for (const seconds of [0, 245.9]) expect(await placedAt(seconds)).toBe('SPENT');
  for (const seconds of [246, 300.1, 305.9]) expect(await placedAt(seconds)).toBe('EXPIRED');
  database.close();
  vi.setSystemTime(NOW * 1_000);
});

test('a key of another algorithm is trusted for nothing, even if the key set has it', async () => {
  const header = { alg: 'ES384', typ: 'captcha-attestation+jwt', kid: 'other' };
  expect(await verdictOf(await new SignJWT(goodClaims()).setProtectedHeader(header).sign(privateKey))).toBe('INVALID');
});

test('the keys that are known are good while they cannot be fetched, and are not fetched for each token', async () => {
  expect(await verdictOf(await signer.sign())).toBe('verified');
  keyServer.keys = undefined;
  expect(await verdictOf(await signer.sign())).toBe('verified');
  expect(keyServer.asked()).toBe(1);
});

test('a key that is new is looked for once 30 s have passed, and until then nobody is told that a token is no proof', async () => {
  const next = await createSigner();
  await verdictOf(await signer.sign());
  await expect(verdictOf(await next.sign())).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  keyServer.keys = [...keys, next.publicJwk];
  vi.setSystemTime(Date.now() + 30_001);
  expect(await verdictOf(await next.sign())).toBe('verified');
  vi.setSystemTime(Date.now() + 30_001);
  expect(await verdictOf(await (await createSigner()).sign())).toBe('INVALID');
});

test('forged tokens make nobody ask a failing key server more often than every 30 s, without keys every second', async () => {
  const failing = await startKeyServer(keys);
  const verifyThere = createVerifier({
    jwksUrl: failing.jwksUrl,
    issuer: ISSUER,
    audience: 'orders',
    subject: 'required',
  });
  const forged = await (await createSigner()).sign();
  const flood = async () => {
    for (let token = 0; token < 20; token += 1)
      await expect(verifyThere(forged, 'placeOrder', 'user-1')).rejects.toThrow();
    return failing.asked();
  };
  failing.keys = undefined;
  expect(await flood()).toBe(1);
  vi.setSystemTime(Date.now() + 1_001);
  expect(await flood()).toBe(2);
  vi.setSystemTime(Date.now() + 1_001);
  failing.keys = keys;
  const good = () => signer.sign().then((token) => verifyThere(token, 'placeOrder', 'user-1'));
  expect(await good()).toMatchObject({ assurance: 'verified' });
  failing.keys = undefined;
  vi.setSystemTime(Date.now() + 30_001);
  expect(await flood()).toBe(4);
  expect(await good()).toMatchObject({ assurance: 'verified' });
  await failing.stop();
});

test('each of several issuers is trusted for its own tokens, even if two have the same kid', async () => {
  const [theirs, iss] = [await createSigner(), 'https://other.example'];
  const otherServer = await startKeyServer([{ ...theirs.publicJwk, kid: signer.kid }]);
  const config = { audience: 'orders', subject: 'required' } as const;
  const verifyBoth = createVerifier(
    { ...config, jwksUrl, issuer: ISSUER },
    { ...config, jwksUrl: otherServer.jwksUrl, issuer: iss },
  );
  const kid = { kid: signer.kid };
  const made = [signer.sign(), theirs.sign({ iss }, kid), signer.sign({ iss }), theirs.sign({}, kid)];
  const tokens = await Promise.all([...made, signer.sign({ iss: 'https://third.example' })]);
  const verdicts = await Promise.all(tokens.map((token) => verifyBoth(token, 'placeOrder', 'user-1')));
  const proof = expect.objectContaining({ assurance: 'verified' });
  expect(verdicts).toEqual([proof, proof, 'INVALID', 'INVALID', 'INVALID']);
  await otherServer.stop();
});
