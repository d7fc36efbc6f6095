import { createHmac, hkdfSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createPermits } from '../../src/captcha/attestation.ts';
import { generateKey } from '../../src/captcha/attestation-keys.ts';
import { partsOf } from '../support/attestations.ts';
import { accounts, FIRST, key, NAMED, NOW, OUTAGE, PASSED, SECOND, SETTINGS, signer } from './attestation-support.ts';
import { INPUT } from './support.ts';

/** `jti` of an attestation, which a service makes unique (design, section 8). */

/** The attestation for an input, as a replica of its own makes it. Rejects if there is none. */
async function attest(changes: object = {}, verdict = PASSED): Promise<string> {
  const permit = createPermits({
    settings: SETTINGS,
    signer,
    captchas: accounts(),
    onIssued: () => {},
    onRefused: () => {},
    now: () => NOW,
  });
  const attestation = await permit({ ...NAMED, ...changes }, 'person-1')?.attest(verdict);
  if (typeof attestation !== 'string') throw new Error('expected an attestation, but got none');
  return attestation;
}

const idOf = async (changes: object = {}, verdict = PASSED) => partsOf(await attest(changes, verdict)).payload.jti;

test('the id of a challenge is an HMAC over captcha id and lot number, under a key that is derived from the captcha key', async () => {
  const derived = Buffer.from(hkdfSync('sha256', 'key-1', '', 'captcha attestation id', 32));
  const expected = createHmac('sha256', derived).update(`${FIRST}\n${INPUT.lotNumber}`).digest('base64url');
  expect(await idOf()).toBe(expected);
});

test('the id of a challenge is the same on every replica, in an outage, and for another action', async () => {
  expect(new Set([await idOf(), await idOf({}, OUTAGE), await idOf({ action: 'cancelOrder' })]).size).toBe(1);
});

test('the id of a challenge is the same after a rotation of the signing keys', async () => {
  const before = await idOf();
  signer.replaceKeys([{ ...key, state: 'retired' }, generateKey('active')]);
  const attestation = await attest();
  signer.replaceKeys([key]);
  expect(partsOf(attestation).payload.jti).toBe(before);
  expect(partsOf(attestation).header.kid).not.toBe(key.kid);
});

test('the id of a challenge differs between two challenges, and between two captcha ids with the same lot number', async () => {
  const news = { audience: 'news', action: 'subscribe' };
  const ids = [await idOf(), await idOf({ lotNumber: 'lot-2' }), await idOf({ ...news, captchaId: SECOND })];
  expect(new Set(ids).size).toBe(3);
});

test('the id of a challenge is not the signature of a verification, which the captcha service gets', async () => {
  const signature = createHmac('sha256', 'key-1').update(INPUT.lotNumber).digest('base64url');
  expect(await idOf()).not.toBe(signature);
});
