import { afterAll, describe, expect, test } from 'vitest';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import { INPUT, startWithAllPolicies } from './support.ts';

/** Who can have caused an exception, and what each policy makes of it. Section numbers are the captcha document's. */

const { answerWith, validate, stop } = await startWithAllPolicies();
afterAll(stop);

const EXCEPTION = { status: 'error', code: '-50003', msg: 'illegal verify', desc: { type: 'defined error' } };

describe('exceptions (7.2) and the policy', () => {
  test('there are 19', () => {
    expect(exceptions).toHaveLength(19);
  });

  test.each(exceptions)('$code is caused by $cause', async ({ code, msg, cause }) => {
    answerWith({ ...EXCEPTION, code, msg });
    const expected = {
      __typename: 'CaptchaIndeterminate',
      cause,
      code,
      type: 'defined error',
      message: expect.any(String),
    };
    expect(await validate()).toEqual({ ...expected, proceed: cause !== 'CLIENT' });
    expect(await validate(INPUT, 'always')).toEqual({ ...expected, proceed: true });
    expect(await validate(INPUT, 'never')).toEqual({ ...expected, proceed: false });
  });

  test.each<[string, unknown, Record<string, unknown>, number?]>([
    [
      'an unknown code is the service',
      { ...EXCEPTION, code: '-59999' },
      { cause: 'SERVICE', code: '-59999', proceed: true },
    ],
    ['no code is the service', { ...EXCEPTION, code: undefined }, { cause: 'SERVICE', code: null, proceed: true }],
    [
      'a numeric code is read as its text',
      { ...EXCEPTION, code: -50003 },
      { cause: 'CLIENT', code: '-50003', proceed: false },
    ],
    [
      'an HTTP status of 400 does not help a client',
      EXCEPTION,
      { cause: 'CLIENT', code: '-50003', proceed: false },
      400,
    ],
    [
      'an HTTP status of 502 does not help a client',
      EXCEPTION,
      { cause: 'CLIENT', code: '-50003', proceed: false },
      502,
    ],
    ['no desc is no type', { ...EXCEPTION, desc: undefined }, { cause: 'CLIENT', type: null, proceed: false }],
    [
      'a desc of a wrong type is no type',
      { ...EXCEPTION, desc: { type: 4 } },
      { cause: 'CLIENT', type: null, proceed: false },
    ],
  ])('%s', async (_what, body, expected, status) => {
    answerWith(body, status);
    expect(await validate()).toMatchObject({ __typename: 'CaptchaIndeterminate', ...expected });
  });

  test('our words about a replay do not repeat the service', async () => {
    answerWith({ ...EXCEPTION, msg: '<b>internal host 10.1.2.3</b>' });
    const { message } = await validate();
    expect(message).not.toContain('10.1.2.3');
  });
});
