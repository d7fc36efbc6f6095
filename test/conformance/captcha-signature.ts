import { createHash, createHmac } from 'node:crypto';
import { expectFail, expectPass, parametersOf, sign, submit, verify } from './captcha-http.ts';
import { expectSame } from './expect.ts';
import { type Audit, audit, type CaptchaAccount } from './target.ts';

/** Proof by signature (5). */

const solved = ['captcha', 'solve'] as const;

function hmac(algorithm: string, message: string, key: string): string {
  return createHmac(algorithm, key).update(message).digest('hex');
}

/** Signatures that are nearly right. */
const WRONG_SIGNATURES: readonly (readonly [
  id: string,
  name: string,
  of: (lot: string, account: CaptchaAccount) => string,
])[] = [
  ['upper-case', 'in upper-case hex', (lot, { captchaKey }) => sign(lot, captchaKey).toUpperCase()],
  ['base64', 'in Base64', (lot, { captchaKey }) => Buffer.from(sign(lot, captchaKey), 'hex').toString('base64')],
  ['truncated', 'cut short', (lot, { captchaKey }) => sign(lot, captchaKey).slice(0, -1)],
  ['extended', 'with more behind it', (lot, { captchaKey }) => `${sign(lot, captchaKey)}0`],
  ['spaced', 'with a space behind it', (lot, { captchaKey }) => `${sign(lot, captchaKey)} `],
  ['other-key', 'under another key', (lot) => sign(lot, 'not the key')],
  ['id-as-key', 'under the captcha id', (lot, { captchaId }) => sign(lot, captchaId)],
  ['empty-key', 'under an empty key', (lot) => sign(lot, '')],
  ['other-message', 'of another message', (lot, { captchaKey }) => sign(`${lot} `, captchaKey)],
  ['swapped', 'with key and message swapped', (lot, { captchaKey }) => sign(captchaKey, lot)],
  ['sha1', 'by HMAC-SHA1', (lot, { captchaKey }) => hmac('sha1', lot, captchaKey)],
  ['sha512', 'by HMAC-SHA512', (lot, { captchaKey }) => hmac('sha512', lot, captchaKey)],
  [
    'plain-hash',
    'by a hash without HMAC',
    (lot, { captchaKey }) =>
      createHash('sha256')
        .update(captchaKey + lot)
        .digest('hex'),
  ],
  ['not-hex', 'that is no hex at all', () => 'z'.repeat(64)],
];

export const signatureAudits: readonly Audit[] = [
  audit('CA-5-right', 'the documented signature passes', solved, async ({ captcha, solve }) => {
    expectPass(await verify(captcha, await solve(captcha)));
  }),
  ...WRONG_SIGNATURES.map(([id, name, signatureOf]) =>
    audit(`CA-5-${id}`, `a signature ${name} is illegal`, solved, async ({ captcha, solve }) => {
      const parameters = parametersOf(captcha, await solve(captcha));
      const sign_token = signatureOf(parameters.lot_number, captcha);
      const details = expectFail(await submit(captcha, { ...parameters, sign_token }), 'illegal sign_token');
      expectSame(details['lot_number'], parameters.lot_number, 'lot_number');
    }),
  ),
  audit(
    'CA-5-other-captcha-key',
    'the key of another captcha id is wrong',
    ['captchas', 'solve'],
    async ({ captchas, solve }) => {
      const { GLB, NA } = captchas;
      const challenge = await solve(GLB);
      expectFail(await verify({ ...GLB, captchaKey: NA.captchaKey }, challenge), 'illegal sign_token');
    },
  ),
];
