import type { AttestationSettings } from '../../src/captcha/attestation.ts';
import { generateKey } from '../../src/captcha/attestation-keys.ts';
import { createSigner } from '../../src/captcha/attestation-signer.ts';
import type { CaptchaVerdict } from '../../src/captcha/verdict.ts';
import type { CaptchaIndeterminateCause } from '../../src/schema.generated.ts';
import { Accounts } from '../../src/upstream/accounts.ts';
import { INPUT } from './support.ts';

/** A configuration of attestations, and verdicts that some of them are issued for. */

export const [FIRST, SECOND] = ['a'.repeat(32), 'b'.repeat(32)];
export const SETTINGS: AttestationSettings = {
  issuer: 'https://device-trust.test',
  lifetimeSeconds: 120,
  unverifiedPerMinute: 3,
  audiences: [
    { id: 'orders', actions: ['placeOrder', 'cancelOrder'], subject: 'required', captchaIds: [FIRST] },
    { id: 'news', actions: ['subscribe'], subject: 'optional' },
  ],
};
export const NAMED = { ...INPUT, audience: 'orders', action: 'placeOrder' };
export const PASSED: CaptchaVerdict = {
  __typename: 'CaptchaPassed',
  proceed: true,
  details: { lotNumber: INPUT.lotNumber, usedType: null, userIp: null, scene: null, referer: null },
};
export const withoutVerdict = (
  cause: CaptchaIndeterminateCause,
  { proceed = true, isConfirmed = true } = {},
): CaptchaVerdict => ({
  __typename: 'CaptchaIndeterminate',
  proceed,
  isConfirmed,
  cause,
  message: '',
});
export const OUTAGE = withoutVerdict('SERVICE');

export const NOW = Date.parse('2026-03-01T08:30:00.900Z');
export const key = generateKey('active');
export const signer = createSigner([key]);
export const accounts = () =>
  new Accounts(
    ({ captchaId }) => captchaId,
    [
      { captchaId: FIRST, captchaKey: 'key-1' },
      { captchaId: SECOND, captchaKey: 'key-2' },
    ],
  );
