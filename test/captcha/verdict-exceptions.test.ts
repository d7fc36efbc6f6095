import { afterAll, describe, expect, test } from 'vitest';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import { INPUT, startWithAllPolicies } from './support.ts';

/**
 * Who can cause an exception, and what follows under each policy while the service is well. Section numbers are the
 * captcha document's. `client.outage.test.ts` has what follows in an outage.
 */

const { apps, answerWith, validate, stop } = await startWithAllPolicies();
afterAll(stop);

const EXCEPTION = { status: 'error', code: '-50003', msg: 'illegal verify', desc: { type: 'defined error' } };

describe('exceptions (7.2) and the policy', () => {
  test('there are 19', () => {
    expect(exceptions).toHaveLength(19);
  });

  test.each(exceptions)('$code has the cause $cause', async ({ code, msg, cause }) => {
    answerWith({ ...EXCEPTION, code, msg });
    const expected = {
      __typename: 'CaptchaIndeterminate',
      cause,
      code,
      type: 'defined error',
      message: expect.any(String),
    };
    const [FIRST, SECOND] = ['a'.repeat(32), 'b'.repeat(32)];
    // Our own probes get their answers, so that the call failed proves nothing.
    const inputs = [INPUT, { ...INPUT, captchaId: FIRST }, { ...INPUT, captchaId: SECOND }];
    for (const verdict of await Promise.all(inputs.map((input) => validate(input)))) {
      expect(verdict).toEqual({ ...expected, proceed: false });
    }
    expect(await validate(INPUT, 'always')).toEqual({ ...expected, proceed: true });
    expect(await validate(INPUT, 'never')).toEqual({ ...expected, proceed: false });
  });

  test.each<[string, unknown, Record<string, unknown>, number?]>([
    ['an unknown code is the service', { ...EXCEPTION, code: '-59999' }, { cause: 'SERVICE', code: '-59999' }],
    ...['-50006', '-50009', '-50300', '-50309', '-50399'].map((code): [string, unknown, Record<string, unknown>] => [
      `${code}, which a later document may explain, belongs to a family that a client can cause`,
      { ...EXCEPTION, code },
      { cause: 'CLIENT', code },
    ]),
    ...['-50100', '-50106', '-50199'].map((code): [string, unknown, Record<string, unknown>] => [
      `${code} belongs to the family of the captcha id`,
      { ...EXCEPTION, code },
      { cause: 'CONFIGURATION', code },
    ]),
    ...['-50010', '-50200', '-50400', '-503090', '-5030', '50309'].map(
      (code): [string, unknown, Record<string, unknown>] => [
        `${code} belongs to no documented family, so it is the service`,
        { ...EXCEPTION, code },
        { cause: 'SERVICE', code },
      ],
    ),
    [
      'a numeric code of a family is read as its text',
      { ...EXCEPTION, code: -50309 },
      { cause: 'CLIENT', code: '-50309' },
    ],
    [
      'a code of a family between blanks is that code',
      { ...EXCEPTION, code: ' -50309\n' },
      { cause: 'CLIENT', code: '-50309' },
    ],
    [
      'a code of a family without a status does not help a client',
      { code: '-50309' },
      { cause: 'CLIENT', code: '-50309' },
    ],
    [
      'a result beside an exception does not help a client',
      { ...EXCEPTION, code: '-50000', result: 'reject' },
      { cause: 'CLIENT', code: '-50000' },
    ],
    [
      'an empty result beside an exception changes nothing',
      { ...EXCEPTION, code: '-50000', result: null },
      { cause: 'SERVICE', code: '-50000' },
    ],
    ['no code is the service', { ...EXCEPTION, code: undefined }, { cause: 'SERVICE', code: null }],
    ['a numeric code is read as its text', { ...EXCEPTION, code: -50003 }, { cause: 'CLIENT', code: '-50003' }],
    ['no status does not help a client', { ...EXCEPTION, status: undefined }, { cause: 'CLIENT' }],
    [
      'an unknown code with an HTTP status of 403 is the client',
      { ...EXCEPTION, code: '-59999' },
      { cause: 'CLIENT', code: '-59999' },
      403,
    ],
    [
      'a documented failure of the service with an HTTP status of 413 is the client',
      { ...EXCEPTION, code: '-50000' },
      { cause: 'CLIENT', code: '-50000' },
      413,
    ],
    ['no status and an unknown code is no answer', { code: '-59999' }, { cause: 'TRANSPORT', code: null }],
    ['an HTTP status of 400 does not help a client', EXCEPTION, { cause: 'CLIENT', code: '-50003' }, 400],
    ['an HTTP status of 502 does not help a client', EXCEPTION, { cause: 'CLIENT', code: '-50003' }, 502],
    ['no desc is no type', { ...EXCEPTION, desc: undefined }, { cause: 'CLIENT', type: null }],
    ['a desc of a wrong type is no type', { ...EXCEPTION, desc: { type: 4 } }, { cause: 'CLIENT', type: null }],
  ])('%s', async (_what, body, expected, status) => {
    answerWith(body, status);
    expect(await validate()).toMatchObject({ __typename: 'CaptchaIndeterminate', proceed: false, ...expected });
  });

  test('an undocumented code is logged, and a documented one that a client can cause is not', async () => {
    answerWith({ ...EXCEPTION, code: '-50398' });
    await validate();
    expect(apps.faults.logged()).toContain('"cause":"CLIENT","code":"-50398"');
    answerWith({ ...EXCEPTION, code: '-50308' });
    await validate();
    expect(apps.faults.logged()).not.toContain('"cause":"CLIENT","code":"-50308"');
  });

  // A 429 also pauses the captcha id, which these tests share: test/upstream/pauses.test.ts.
  test.each([400, 401, 403, 404, 413])('a bare %i can be provoked, so it does not proceed', async (status) => {
    answerWith('<html>Request blocked</html>', status);
    expect(await validate()).toMatchObject({ cause: 'CLIENT', code: null, proceed: false });
    expect(await validate(INPUT, 'always')).toMatchObject({ cause: 'CLIENT', proceed: true });
    // It may be a wrong address as well, and then the operator has to act.
    expect(apps.faults.logged()).toContain(`"status":${status},"cause":"CLIENT"`);
  });

  test('our message about a replay does not repeat that of the service', async () => {
    answerWith({ ...EXCEPTION, msg: '<b>internal host 10.1.2.3</b>' });
    const { message } = await validate();
    expect(message).not.toContain('10.1.2.3');
  });
});
