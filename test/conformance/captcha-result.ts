import { isIP } from 'node:net';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import reasons from '../fixtures/failure-reasons.json' with { type: 'json' };
import {
  expectException,
  expectFail,
  expectNoPass,
  expectPass,
  parametersOf,
  submit,
  unsolved,
  verify,
} from './captcha-http.ts';
import { expectObject, expectSame, expectText, expectThat } from './expect.ts';
import { type Audit, audit, REGION_PAIRS } from './target.ts';

/** What the service answers (2.2 to 2.4, 7). The expect functions hold the exact key sets. */

const solved = ['captcha', 'solve'] as const;

const shapeAudits: readonly Audit[] = [
  audit('CA-2.2-pass', 'a pass: success twice, and an empty reason', solved, async ({ captcha, solve }) => {
    const { body } = await verify(captcha, await solve(captcha));
    const { status, result, reason } = expectObject(body, 'a verdict');
    expectSame({ status, result, reason }, { status: 'success', result: 'success', reason: '' }, 'a pass');
  }),
  audit('CA-2.2-fail', 'a failure: status success, result fail, and a reason', solved, async ({ captcha, solve }) => {
    const parameters = parametersOf(captcha, await solve(captcha));
    const { body } = await submit(captcha, { ...parameters, sign_token: 'wrong' });
    const { status, result, reason } = expectObject(body, 'a verdict');
    expectSame({ status, result }, { status: 'success', result: 'fail' }, 'a failure');
    expectThat(expectText(reason, 'reason') !== '', 'a reason', reason);
  }),
  audit('CA-2.2-exception', 'an exception: status error, and code is a string', ['captcha'], async ({ captcha }) => {
    const { body } = await verify({ ...captcha, captchaId: 'short' }, unsolved('0'.repeat(32)));
    const { status, code, msg } = expectObject(body, 'an exception');
    expectSame({ status, code, msg }, { status: 'error', code: '-50102', msg: 'illegal captcha_id' }, 'an exception');
  }),
  audit(
    'CA-2.3-pass',
    'captcha_args of a pass: five fields, of this verification',
    solved,
    async ({ captcha, solve }) => {
      const challenge = await solve(captcha);
      const details = expectPass(await verify(captcha, challenge));
      expectSame(details['lot_number'], challenge.lot_number, 'lot_number');
      expectThat(isIP(String(details['user_ip'])) > 0, 'an IP address', details['user_ip']);
    },
  ),
  audit(
    'CA-2.3-fail',
    'captcha_args of a failure: three, without scene and referer',
    solved,
    async ({ captcha, solve }) => {
      const parameters = parametersOf(captcha, await solve(captcha));
      const reply = await submit(captcha, { ...parameters, sign_token: 'wrong' });
      expectSame(expectFail(reply, 'illegal sign_token')['lot_number'], parameters.lot_number, 'lot_number');
    },
  ),
  audit('CA-2.4-passed', 'passed: no code, msg or desc', solved, async ({ captcha, solve }) => {
    expectPass(await verify(captcha, await solve(captcha)));
  }),
  audit('CA-2.4-failed', 'failed: no code, msg or desc', solved, async ({ captcha, solve }) => {
    const parameters = parametersOf(captcha, await solve(captcha));
    expectFail(await submit(captcha, { ...parameters, sign_token: 'wrong' }), 'illegal sign_token');
  }),
  audit('CA-2.4-exception', 'exception: no result, reason or captcha_args', ['captcha'], async ({ captcha }) => {
    expectException(await verify({ ...captcha, captchaId: 'short' }, unsolved('0'.repeat(32))), '-50102');
  }),
];

const failureAudits: readonly Audit[] = reasons.map(({ reason }) =>
  audit(
    `CA-7.1-${reason.replaceAll(' ', '-')}`,
    `a verification fails for "${reason}"`,
    ['captcha', 'failingLotNumber'],
    async ({ captcha, failingLotNumber }) => {
      expectFail(await verify(captcha, unsolved(failingLotNumber(reason))), reason);
    },
  ),
);

const exceptionAudits: readonly Audit[] = [
  ...exceptions.map(({ code, msg }) =>
    audit(`CA-7.2-${code.slice(1)}`, `${code} is "${msg}"`, ['captcha', 'raisingLotNumber'], async (target) => {
      expectException(await verify(target.captcha, unsolved(target.raisingLotNumber(code))), code);
    }),
  ),
  audit('CA-7.2-replay', 'a second verification is a duplicate', solved, async ({ captcha, solve }) => {
    const challenge = await solve(captcha);
    expectPass(await verify(captcha, challenge));
    for (let again = 0; again < 3; again += 1) expectException(await verify(captcha, challenge), '-50003');
  }),
  audit('CA-7.2-race', 'of many verifications at once a single one passes', solved, async ({ captcha, solve }) => {
    const challenge = await solve(captcha);
    const replies = await Promise.all(Array.from({ length: 8 }, () => verify(captcha, challenge)));
    const passes = replies.filter(({ body }) => expectObject(body, 'a verdict')['result'] === 'success');
    expectSame(passes.length, 1, 'passes, in number');
    for (const reply of replies) if (!passes.includes(reply)) expectException(reply, '-50003');
  }),
  audit('CA-7.2-unknown-id', 'a captcha id that does not exist', ['captcha'], async ({ captcha }) => {
    const unknown = { ...captcha, captchaId: '0123456789abcdef'.repeat(2) };
    expectException(await verify(unknown, unsolved('0'.repeat(32))), '-50103');
  }),
  audit('CA-7.2-deleted-id', 'a captcha id that was deleted', ['deletedCaptcha'], async ({ deletedCaptcha }) => {
    expectException(await verify(deletedCaptcha, unsolved('0'.repeat(32))), '-50104');
  }),
  audit('CA-7.2-paused-id', 'a captcha id that is paused', ['pausedCaptcha'], async ({ pausedCaptcha }) => {
    expectException(await verify(pausedCaptcha, unsolved('0'.repeat(32))), '-50105');
  }),
  ...REGION_PAIRS.map(({ home, node }) =>
    audit(
      `CA-7.2-${home}-for-${node}`,
      `a challenge solved for the id of ${home} never passes for that of ${node}`,
      ['captchas', 'solve'],
      async ({ captchas, solve }) => {
        expectNoPass(await verify(captchas[node], await solve(captchas[home])));
      },
    ),
  ),
  audit('CA-7.3-status', 'verdicts come with HTTP 200', solved, async ({ captcha, solve }) => {
    const challenge = await solve(captcha);
    const failed = await submit(captcha, { ...parametersOf(captcha, challenge), sign_token: 'wrong' });
    const passed = await verify(captcha, await solve(captcha));
    expectSame([failed.status, passed.status], [200, 200], 'HTTP statuses');
  }),
];

export const resultAudits: readonly Audit[] = [...shapeAudits, ...failureAudits, ...exceptionAudits];
