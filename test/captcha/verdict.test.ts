import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { INPUT, startWithAllPolicies } from './support.ts';

/** What `validateCaptcha` sends, and which answers are a pass or a failure. Section numbers are the captcha document's. */

const { apps, upstream, answerWith, answerWithBytes, validate, stop } = await startWithAllPolicies();
afterAll(stop);
beforeEach(() => {
  upstream.received.length = 0;
  answerWith(PASS);
});

const ARGS = {
  used_type: 'slide',
  user_ip: '203.0.113.9',
  lot_number: 'lot-1',
  scene: 'login',
  referer: 'https://shop.example/',
};
const PASS = { status: 'success', result: 'success', reason: '', captcha_args: ARGS };
const FAIL_ARGS = { used_type: 'slide', user_ip: '203.0.113.9', lot_number: 'lot-1' };
const FAIL = { status: 'success', result: 'fail', reason: 'pass_token expire', captcha_args: FAIL_ARGS };
const POLICIES = ['faults', 'always', 'never'] as const;

describe('what is sent (section 4)', () => {
  test('a form with all but the captcha id, which alone stands in the URL', async () => {
    await validate({ ...INPUT, captchaId: 'b'.repeat(32), captchaOutput: 'a+b/c=&d ~', passToken: '100% sure' });
    expect(upstream.received).toHaveLength(1);
    const [{ method, url, headers, body } = { method: '', url: '', headers: {}, body: '' }] = upstream.received;
    expect([method, url]).toEqual(['POST', `/validate?captcha_id=${'b'.repeat(32)}`]);
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      lot_number: 'lot-1',
      captcha_output: 'a+b/c=&d ~',
      pass_token: '100% sure',
      gen_time: '1700000000',
      // printf lot-1 | openssl dgst -sha256 -hmac key_sandbox_na
      sign_token: '4c49827c1229e8f9afd2c956a2ced9771974537997e606549e80f4caa215b5e8',
    });
  });

  test.each([
    ['genTime', ''],
    ['genTime', '12a'],
    ['genTime', ' 12'],
    ['genTime', '-12'],
    ['genTime', '１２'],
    ['genTime', '1'.repeat(21)],
    ['lotNumber', ''],
    ['lotNumber', 'lot\ud800'],
    ['passToken', 'é'],
    ['captchaOutput', '\u{1f600}'],
    ['captchaOutput', ''],
    ['captchaOutput', '!'.repeat(4_097)],
    ['passToken', '\udc00'],
    ['captchaId', 'f'.repeat(32)],
    ['captchaId', ''],
  ])('%s %j is refused before any call', async (name, value) => {
    expect(await validate({ ...INPUT, [name]: value })).toMatchObject([
      {
        message: expect.stringContaining(`input.${name}: expected `),
        extensions: { code: 'BAD_USER_INPUT', retryable: false },
      },
    ]);
    expect(upstream.received).toEqual([]);
  });

  test('genTime of 20 digits is not', async () => {
    expect(await validate({ ...INPUT, genTime: '1'.repeat(20) })).toMatchObject({ proceed: true });
  });
});

describe('a pass is exactly the documented one (2.3, 2.4)', () => {
  test.each<[string, unknown, number?]>([
    ['with HTTP status 500', PASS, 500],
    ['with HTTP status 201', PASS, 201],
    ['without a result', { ...PASS, result: undefined }],
    ['with an unknown result', { ...PASS, result: 'ok' }],
    ['with an unknown status', { ...PASS, status: 'ok' }],
    ['without a status', { ...PASS, status: undefined }],
    ['with a reason', { ...PASS, reason: 'illegal sign_token' }],
    ['without details', { ...PASS, captcha_args: undefined }],
    ['with details of a wrong type', { ...PASS, captcha_args: { ...ARGS, scene: 7 } }],
    ['without a lot number', { ...PASS, captcha_args: { ...ARGS, lot_number: undefined } }],
    ['as a list', [PASS]],
    ['as a text', JSON.stringify(PASS)],
    ['as null', null],
  ])('%s it is no usable answer', async (_what, body, status) => {
    answerWith(body, status);
    expect(await validate()).toMatchObject({
      __typename: 'CaptchaIndeterminate',
      cause: 'TRANSPORT',
      code: null,
      proceed: true,
    });
    expect(await validate(INPUT, 'never')).toMatchObject({ cause: 'TRANSPORT', proceed: false });
    expect(apps.never.logged()).toContain('"cause":"TRANSPORT"');
  });

  test('for another lot number it is a failure, whatever the policy', async () => {
    answerWith({ ...PASS, captcha_args: { ...ARGS, lot_number: 'lot-2' } });
    expect(await validate(INPUT, 'always')).toMatchObject({
      __typename: 'CaptchaFailed',
      proceed: false,
      category: 'LOT_NUMBER_MISMATCH',
      details: { lotNumber: 'lot-2' },
    });
    expect(apps.always.logged()).toContain('answered for another lot number');
  });

  test.each<[unknown]>([['lot-2'], [999], [['lot-2']], [{ toString: 1 }]])(
    'for the lot number %j it is a failure under every policy',
    async (other) => {
      answerWith({ ...PASS, captcha_args: { ...ARGS, lot_number: other } });
      for (const policy of POLICIES) {
        expect(await validate(INPUT, policy)).toMatchObject({
          __typename: 'CaptchaFailed',
          proceed: false,
          category: 'LOT_NUMBER_MISMATCH',
        });
      }
    },
  );

  test('with a byte that UTF-8 does not have it is no usable answer', async () => {
    answerWithBytes(JSON.stringify({ ...PASS, captcha_args: { ...ARGS, scene: 'login\u00ff' } }));
    for (const policy of POLICIES) {
      expect(await validate(INPUT, policy)).toMatchObject({ __typename: 'CaptchaIndeterminate', cause: 'TRANSPORT' });
    }
  });

  test('for another lot number it is a failure even with a flaw', async () => {
    answerWith({ ...PASS, reason: null, captcha_args: { lot_number: 'lot-2' } });
    expect(await validate(INPUT, 'always')).toMatchObject({ proceed: false, category: 'LOT_NUMBER_MISMATCH' });
  });

  test('the log says where an answer is wrong, and not what stood there', async () => {
    answerWith({ ...PASS, captcha_args: { ...ARGS, scene: { secret: 'personal' } } });
    await validate();
    expect(apps.faults.logged()).toContain('captcha_args.scene: invalid_type');
    expect(apps.faults.logged()).not.toContain('personal');
  });

  test('further fields are tolerated', async () => {
    answerWith({ ...PASS, extra: 1, captcha_args: { ...ARGS, extra: {} } });
    expect(await validate()).toMatchObject({ __typename: 'CaptchaPassed' });
  });
});

describe('a "no" is a "no", under every policy', () => {
  test.each<[string, unknown, number?]>([
    ['as documented', FAIL],
    ['with HTTP status 500', FAIL, 500],
    ['without details', { ...FAIL, captcha_args: undefined }],
    ['with details of wrong types', { ...FAIL, captcha_args: { used_type: 1, user_ip: null, lot_number: [] } }],
    ['with the details of a pass', { ...FAIL, captcha_args: ARGS }],
    ['without a reason', { ...FAIL, reason: undefined }],
    ['without a status', { ...FAIL, status: undefined }],
    ['with the status of an exception', { ...FAIL, status: 'error' }],
    ['in capitals', { ...FAIL, result: 'FAIL' }],
    ['in another form', { ...FAIL, result: 'failed' }],
    ['between blanks', { ...FAIL, result: ' fail\n' }],
    ['as a truth value', { ...FAIL, result: false }],
    ['in capitals, in the company of a pass', { ...PASS, result: 'Fail' }],
  ])('%s', async (_what, body, status) => {
    answerWith(body, status);
    for (const policy of POLICIES) {
      expect(await validate(INPUT, policy)).toMatchObject({
        __typename: 'CaptchaFailed',
        proceed: false,
        details: { lotNumber: 'lot-1' },
      });
    }
  });

  test.each<[string, object, Record<string, string>?]>([
    ['with a reason that is not UTF-8', { ...FAIL, reason: 'pass_token expire\u00ff' }],
    ['with details that are not UTF-8', { ...FAIL, captcha_args: { ...FAIL_ARGS, used_type: 'slide\u00ff' } }],
    ['under an empty content-encoding', FAIL, { 'content-encoding': '' }],
  ])('%s', async (_what, body, headers) => {
    answerWithBytes(JSON.stringify(body), headers);
    for (const policy of POLICIES) {
      expect(await validate(INPUT, policy)).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
    }
  });
});
