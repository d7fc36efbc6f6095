import { createHmac, hkdfSync } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAttestations, generateKey } from '../../src/captcha/attestation.ts';
import type { CaptchaSettings } from '../../src/captcha/settings.ts';
import type { CaptchaVerdict } from '../../src/captcha/verdict.ts';
import type { CaptchaIndeterminateCause, ValidateCaptchaInput } from '../../src/schema.generated.ts';
import { partsOf, verifyAttestation } from '../support/attestations.ts';
import { INPUT } from './support.ts';

/** Who gets an attestation, and what is in it. `test/server/attestation.test.ts` asks over HTTP. */

const [FIRST, SECOND] = ['a'.repeat(32), 'b'.repeat(32)];
const SETTINGS: NonNullable<CaptchaSettings['attestation']> = {
  issuer: 'https://device-trust.test',
  lifetimeSeconds: 120,
  audiences: [
    { id: 'orders', actions: ['placeOrder', 'cancelOrder'], subject: 'required', captchaIds: [FIRST] },
    { id: 'news', actions: ['subscribe'], subject: 'optional' },
  ],
};
const NAMED = { ...INPUT, audience: 'orders', action: 'placeOrder' };
const PASSED: CaptchaVerdict = { __typename: 'CaptchaPassed', proceed: true, details: { lotNumber: INPUT.lotNumber } };
const withoutVerdict = (cause: CaptchaIndeterminateCause, isAllowed = true): CaptchaVerdict => ({
  __typename: 'CaptchaIndeterminate',
  proceed: true,
  isAllowed,
  cause,
  message: '',
});
const OUTAGE = withoutVerdict('SERVICE');

const NOW = Date.parse('2026-03-01T08:30:00.900Z');
vi.useFakeTimers({ toFake: ['Date'], now: NOW });
afterAll(() => void vi.useRealTimers());
const key = generateKey('active');
const ACCOUNTS = [
  { id: FIRST, captchaKey: 'key-1' },
  { id: SECOND, captchaKey: 'key-2' },
];
const find = (given: string | null | undefined) => ACCOUNTS.find(({ id }) => id === (given ?? FIRST));

const FAILED: CaptchaVerdict = {
  __typename: 'CaptchaFailed',
  proceed: false,
  reason: '',
  category: 'OTHER',
  details: { lotNumber: INPUT.lotNumber },
};

const issued: unknown[] = [];
const refused: string[] = [];
beforeEach(() => {
  issued.length = 0;
  refused.length = 0;
});

const metrics: Parameters<typeof createAttestations>[2] = {
  recordAttestation: (audience, assurance, count) => count > 0 && issued.push([audience, assurance]),
  recordAttestationRefusal: (reason) => refused.push(reason),
};

/** An issuer as a replica of its own has it. */
const issuerWith = (settings = SETTINGS, attestationKeys = [key]) =>
  createAttestations({ attestation: settings, attestationKeys }, find, metrics);
const { jwks = '' } = issuerWith();

/** The attestation for an input. Rejects if there is none. */
async function attest(input: ValidateCaptchaInput = NAMED, verdict: CaptchaVerdict = PASSED): Promise<string> {
  const attestation = await issuerWith().checkAttestation(input, 'person-1')?.attest(verdict);
  if (typeof attestation !== 'string') throw new Error('expected an attestation, but got none');
  return attestation;
}

test('an attestation has exactly the claims of schema/README.md, and is verified by another implementation', async () => {
  const attestation = await attest();
  const options = { issuer: SETTINGS.issuer, currentDate: new Date(NOW) };
  const claims = {
    iss: 'https://device-trust.test',
    aud: 'orders',
    sub: 'person-1',
    action: 'placeOrder',
    assurance: 'verified',
    captcha_id: FIRST,
    jti: expect.stringMatching(/^[\w-]{43}$/),
    iat: 1_772_353_800,
    exp: 1_772_353_920,
  };
  expect(await verifyAttestation(attestation, jwks, options)).toStrictEqual(claims);
  expect(partsOf(attestation).payload).toStrictEqual(claims);
  expect(partsOf(attestation).header).toStrictEqual({ alg: 'ES256', typ: 'captcha-attestation+jwt', kid: key.kid });
});

describe('a request is refused before the verification', () => {
  test.each<[string, object, string | undefined, string, string, string]>([
    ['an audience without an action', { action: null }, 'p', 'incomplete', 'BAD_USER_INPUT', 'input.audience'],
    ['an action without an audience', { audience: undefined }, 'p', 'incomplete', 'BAD_USER_INPUT', 'input.audience'],
    ['an unknown audience', { audience: 'billing' }, 'p', 'audience', 'BAD_USER_INPUT', 'input.audience'],
    ['an empty audience', { audience: '' }, 'p', 'audience', 'BAD_USER_INPUT', 'input.audience'],
    ['a name that every object has', { audience: '__proto__' }, 'p', 'audience', 'BAD_USER_INPUT', 'input.audience'],
    ['an action that is not listed', { action: 'refund' }, 'p', 'action', 'BAD_USER_INPUT', 'input.action'],
    ['the action of another audience', { action: 'subscribe' }, 'p', 'action', 'BAD_USER_INPUT', 'input.action'],
    ['a captcha id that is not listed', { captchaId: SECOND }, 'p', 'captcha_id', 'BAD_USER_INPUT', 'input.captchaId'],
    ['an unknown captcha id', { captchaId: 'x' }, 'p', 'captcha_id', 'BAD_USER_INPUT', 'input.captchaId'],
    ['nobody where a person is required', {}, undefined, 'subject', 'FORBIDDEN', 'input.audience'],
  ])('a request with %s is refused before the verification', (_what, changes, subject, reason, code, argument) => {
    expect(() => issuerWith().checkAttestation({ ...NAMED, ...changes }, subject)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(`${argument}: expected `) }),
    );
    expect(refused).toEqual([reason]);
  });
});

test.each<[string, CaptchaVerdict, string | undefined]>([
  ['a pass', PASSED, 'verified'],
  ['a failed challenge', FAILED, undefined],
  ['a fault in a confirmed outage', withoutVerdict('SERVICE'), 'unverified'],
  ['no response in a confirmed outage', withoutVerdict('TRANSPORT'), 'unverified'],
  ['a fault that proceeds for another reason', withoutVerdict('SERVICE', false), undefined],
  ['no response that proceeds for another reason', withoutVerdict('TRANSPORT', false), undefined],
])('%s gets an attestation only if it is worth one', async (_what, verdict, assurance) => {
  const attestation = await issuerWith().checkAttestation(NAMED, 'person-1')?.attest(verdict);
  expect(attestation && partsOf(attestation).payload.assurance).toBe(assurance ?? null);
  expect(issued).toEqual(assurance ? [['orders', assurance]] : []);
});

/** `jti`, which a service makes unique. */
describe('the id of a challenge', () => {
  /** As a replica of its own makes it. */
  const idOf = async (changes: object = {}, verdict: CaptchaVerdict = PASSED) =>
    partsOf(await attest({ ...NAMED, ...changes }, verdict)).payload.jti;

  test('the id of a challenge is an HMAC over captcha id and lot number, under a key that is derived from the captcha key', async () => {
    const derived = Buffer.from(hkdfSync('sha256', 'key-1', '', 'captcha attestation id', 32));
    const expected = createHmac('sha256', derived).update(`${FIRST}\n${INPUT.lotNumber}`).digest('base64url');
    expect(await idOf()).toBe(expected);
  });

  test('the id of a challenge is the same on every replica, in an outage, and for another action', async () => {
    expect(new Set([await idOf(), await idOf({}, OUTAGE), await idOf({ action: 'cancelOrder' })]).size).toBe(1);
  });

  test('the id of a challenge is the same with another signing key', async () => {
    const issuer = issuerWith(SETTINGS, [{ ...key, state: 'retired' }, generateKey('active')]);
    const attestation = String(await issuer.checkAttestation(NAMED, 'person-1')?.attest(PASSED));
    expect(partsOf(attestation).payload.jti).toBe(await idOf());
    expect(partsOf(attestation).header.kid).not.toBe(key.kid);
  });
});
