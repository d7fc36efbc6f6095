import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import { startInLiveMode } from '../support/app.ts';
import { ask, CAPTCHA_MUTATION } from '../support/graphql.ts';
import { type ReceivedRequest, sendJson, startUpstream } from '../support/upstream.ts';

/** What `validateCaptcha` sends, and which outcome each answer is. Section numbers are the captcha document's. */

let answer: (request: ReceivedRequest, response: ServerResponse) => void;
const upstream = await startUpstream((request, response) => answer(request, response));
const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
const apps = {
  faults: await startInLiveMode(urls),
  always: await startInLiveMode(urls, { captchaFailOpen: 'always' }),
  never: await startInLiveMode(urls, { captchaFailOpen: 'never' }),
};
afterAll(() => Promise.all([...Object.values(apps).map((app) => app.stop()), upstream.stop()]));

const INPUT = { lotNumber: 'lot-1', captchaOutput: 'output-1', passToken: 'pass-1', genTime: '1700000000' };
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
const EXCEPTION = { status: 'error', code: '-50003', msg: 'illegal verify', desc: { type: 'defined error' } };

const answerWith = (body: unknown, status = 200) => {
  answer = (_request, response) => sendJson(response, status, body);
};
beforeEach(() => {
  upstream.received.length = 0;
  answerWith(PASS);
});

async function validate(input: Record<string, unknown> = INPUT, policy: keyof typeof apps = 'faults') {
  const { data, errors } = await ask(apps[policy].graphqlUrl, CAPTCHA_MUTATION, { input });
  return errors ?? data.validateCaptcha;
}

describe('what is sent (section 4)', () => {
  test('a form with all but the captcha id, which alone stands in the URL', async () => {
    await validate({ ...INPUT, captchaId: 'b'.repeat(32), captchaOutput: 'a+b/c=&d é', passToken: '100% sure' });
    expect(upstream.received).toHaveLength(1);
    const [{ method, url, headers, body } = { method: '', url: '', headers: {}, body: '' }] = upstream.received;
    expect([method, url]).toEqual(['POST', `/validate?captcha_id=${'b'.repeat(32)}`]);
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      lot_number: 'lot-1',
      captcha_output: 'a+b/c=&d é',
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
    ['captchaOutput', ''],
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
  });

  test('for another lot number it is a failure, whatever the policy', async () => {
    answerWith({ ...PASS, captcha_args: { ...ARGS, lot_number: 'lot-2' } });
    expect(await validate(INPUT, 'always')).toMatchObject({
      __typename: 'CaptchaFailed',
      proceed: false,
      category: 'LOT_NUMBER_MISMATCH',
      details: { lotNumber: 'lot-2' },
    });
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
  ])('%s', async (_what, body, status) => {
    answerWith(body, status);
    for (const policy of ['faults', 'always', 'never'] as const) {
      expect(await validate(INPUT, policy)).toMatchObject({
        __typename: 'CaptchaFailed',
        proceed: false,
        details: { lotNumber: 'lot-1' },
      });
    }
  });
});

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
