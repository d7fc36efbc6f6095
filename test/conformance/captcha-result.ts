import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import reasons from '../fixtures/failure-reasons.json' with { type: 'json' };
import {
  expectException,
  expectFail,
  expectNoPass,
  expectPass,
  onSolved,
  parametersOf,
  sign,
  submit,
  unsolved,
  verify,
} from './captcha-http.ts';
import { type Audit, audit, type CaptchaAccount, type Challenge, REGION_PAIRS } from './target.ts';

/** What the service answers (2.2 to 2.4, 7). The expect functions hold the fields. */

const acrossRegions = ['captchas', 'solve'] as const;

const failureAudits: readonly Audit[] = reasons.map(({ reason }) =>
  audit(
    `CA-7.1-${reason.replaceAll(' ', '-')}`,
    `a verification fails for "${reason}"`,
    ['captcha', 'failingLotNumber'],
    async (target) => expectFail(await verify(target.captcha, unsolved(target.failingLotNumber(reason))), reason),
  ),
);

const exceptionAudits: readonly Audit[] = [
  ...exceptions.map(({ code, msg }) =>
    audit(
      `CA-7.2-${code.slice(1)}`,
      `the exception ${code} is "${msg}"`,
      ['captcha', 'raisingLotNumber'],
      async (target) => {
        expectException(await verify(target.captcha, unsolved(target.raisingLotNumber(code))), code);
      },
    ),
  ),
  onSolved('CA-7.2-replay', 'a second verification is a duplicate', async (captcha, challenge) => {
    expectPass(await verify(captcha, challenge), challenge.lot_number);
    for (let again = 0; again < 3; again += 1) expectException(await verify(captcha, challenge), '-50003');
  }),
  onSolved('CA-7.2-race', 'a single one of many verifications at once passes', async (captcha, challenge) => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => verify(captcha, challenge)));
    const passes = replies.filter(({ body }) => Object(body).result === 'success');
    expect(passes).toHaveLength(1);
    for (const reply of replies) if (!passes.includes(reply)) expectException(reply, '-50003');
  }),
  audit('CA-7.2-unknown-id', 'a captcha id that does not exist is an exception', ['captcha'], async ({ captcha }) => {
    const unknown = { ...captcha, captchaId: '0123456789abcdef'.repeat(2) };
    expectException(await verify(unknown, unsolved('0'.repeat(32))), '-50103');
  }),
  audit('CA-7.2-deleted-id', 'a captcha id that was deleted is an exception', ['deletedCaptcha'], async (target) => {
    expectException(await verify(target.deletedCaptcha, unsolved('0'.repeat(32))), '-50104');
  }),
  audit('CA-7.2-paused-id', 'a captcha id that is paused is an exception', ['pausedCaptcha'], async (target) => {
    expectException(await verify(target.pausedCaptcha, unsolved('0'.repeat(32))), '-50105');
  }),
  // So a probe that gets one knows that everybody does.
  audit('CA-7.2-id-alone', 'no value of a client raises an exception about the id', ['captcha'], async (target) => {
    for (const value of ['', '0', '0'.repeat(32), `&captcha_id=${'f'.repeat(32)}`, 'é', '9'.repeat(10_000)]) {
      const challenge = { lot_number: value, captcha_output: value, pass_token: value, gen_time: value };
      for (const spoiled of [challenge, { ...challenge, gen_time: '1748779200' }]) {
        const reply = await verify(target.captcha, spoiled);
        expectNoPass(reply);
        expect(`${Object(reply.body).code}`).not.toMatch(/^-501/);
      }
    }
  }),
  audit('CA-7.2-elsewhere', 'a challenge never passes in another region', acrossRegions, async (target) => {
    for (const { home, node } of REGION_PAIRS)
      expectNoPass(await verify(target.captchas[node], await target.solve(target.captchas[home])));
  }),
];

/** Proof by signature (5). */

/** Signatures that are nearly right. */
const WRONG_SIGNATURES: Readonly<Record<string, (lot: string, account: CaptchaAccount) => string>> = {
  'upper-case': (lot, { captchaKey }) => sign(lot, captchaKey).toUpperCase(),
  base64: (lot, { captchaKey }) => Buffer.from(sign(lot, captchaKey), 'hex').toString('base64'),
  truncated: (lot, { captchaKey }) => sign(lot, captchaKey).slice(0, -1),
  extended: (lot, { captchaKey }) => `${sign(lot, captchaKey)}0`,
  spaced: (lot, { captchaKey }) => `${sign(lot, captchaKey)} `,
  'other-key': (lot) => sign(lot, 'not the key'),
  'empty-key': (lot) => sign(lot, ''),
  'other-message': (lot, { captchaKey }) => sign(`${lot} `, captchaKey),
  sha1: (lot, { captchaKey }) => createHmac('sha1', captchaKey).update(lot).digest('hex'),
  sha512: (lot, { captchaKey }) => createHmac('sha512', captchaKey).update(lot).digest('hex'),
};

const signatureAudits: readonly Audit[] = Object.entries(WRONG_SIGNATURES).map(([flaw, signatureOf]) =>
  onSolved(`CA-5-${flaw}`, `a signature with the flaw "${flaw}" is illegal`, async (captcha, challenge) => {
    const parameters = parametersOf(captcha, challenge);
    const sign_token = signatureOf(parameters.lot_number, captcha);
    expectFail(await submit(captcha, { ...parameters, sign_token }), 'illegal sign_token', parameters.lot_number);
  }),
);

/** What the documents do not bound. Each with its own signature, so the answer is the one that the lot number forces. */
const UNBOUNDED: readonly (readonly [id: string, name: string, lot: string, changes: Partial<Challenge>])[] = [
  ['CA-5-utf-8', 'a lot number is signed as UTF-8', '序號 № 1 💳\n', {}],
  ['CA-2.1-long-output', 'a captcha_output of 16 KiB is taken', 'a', { captcha_output: 'x'.repeat(16_384) }],
  ['CA-2.1-long-token', 'a pass_token of 16 KiB in UTF-8 is taken', 'a', { pass_token: 'é'.repeat(8_192) }],
  ['CA-8-long-time', 'a gen_time has any number of digits', 'a', { gen_time: '1'.repeat(1_000) }],
];

const unboundedAudits: readonly Audit[] = UNBOUNDED.map(([id, name, lot, changes]) =>
  audit(id, name, ['captcha', 'failingLotNumber'], async ({ captcha, failingLotNumber }) => {
    expectFail(await verify(captcha, { ...unsolved(failingLotNumber(lot)), ...changes }), lot, failingLotNumber(lot));
  }),
);

export const resultAudits: readonly Audit[] = [
  ...signatureAudits,
  ...unboundedAudits,
  ...failureAudits,
  ...exceptionAudits,
];
