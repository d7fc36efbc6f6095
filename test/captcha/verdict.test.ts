import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { type FailOpenPolicy, toVerdict } from '../../src/captcha/verdict.ts';
import { ARGS, INPUT, PASS, startWithAllPolicies } from './support.ts';

/** Which responses are a pass, and which a failure. Section numbers are the captcha document's. */

const { apps, answerWith, answerWithBytes, validate, stop } = await startWithAllPolicies();
afterAll(stop);

const FAIL_ARGS = { used_type: 'slide', user_ip: '203.0.113.9', lot_number: 'lot-1' };
const FAIL = { status: 'success', result: 'fail', reason: 'pass_token expire', captcha_args: FAIL_ARGS };
const POLICIES = ['faults', 'always', 'never'] as const;

describe('only exactly the documented pass is one (2.3, 2.4)', () => {
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
  ])('%s it is no verdict', async (_what, body, status) => {
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

  test('with a byte that UTF-8 does not have it is no verdict', async () => {
    answerWithBytes(JSON.stringify({ ...PASS, captcha_args: { ...ARGS, scene: 'login\u00ff' } }));
    for (const policy of POLICIES) {
      expect(await validate(INPUT, policy)).toMatchObject({ __typename: 'CaptchaIndeterminate', cause: 'TRANSPORT' });
    }
  });

  test('for another lot number it is a failure, even if other fields are wrong', async () => {
    answerWith({ ...PASS, reason: null, captcha_args: { lot_number: 'lot-2' } });
    expect(await validate(INPUT, 'always')).toMatchObject({ proceed: false, category: 'LOT_NUMBER_MISMATCH' });
  });

  test('the log says which field is wrong, and not what its value was', async () => {
    answerWith({ ...PASS, captcha_args: { ...ARGS, scene: { secret: 'personal' } } });
    await validate();
    expect(apps.faults.logged()).toContain('captcha_args.scene: invalid_type');
    expect(apps.faults.logged()).not.toContain('personal');
  });

  test('with further fields it is a pass', async () => {
    answerWith({ ...PASS, extra: 1, captcha_args: { ...ARGS, extra: {} } });
    expect(await validate()).toMatchObject({ __typename: 'CaptchaPassed' });
  });
});

describe('a failure is a failure under every policy', () => {
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
    ['as a boolean', { ...FAIL, result: false }],
    ['in capitals, with the other fields of a pass', { ...PASS, result: 'Fail' }],
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

test('no verdict is better than the response', () => {
  const word = fc.oneof(
    fc.constantFrom('success', 'fail', 'FAILED', false, 'error', '', 'lot-1', '-50003'),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const args = fc.record(
    { used_type: word, user_ip: word, lot_number: word, scene: word, referer: word },
    { requiredKeys: [] },
  );
  const answer = fc.oneof(
    fc.record(
      { status: word, result: word, reason: word, code: word, captcha_args: fc.oneof(args, word) },
      { requiredKeys: [] },
    ),
    fc.jsonValue(),
  );
  const status = fc.constantFrom(200, 200, 201, 302, 400, 500);
  const policy = fc.constantFrom<FailOpenPolicy>('faults', 'always', 'never');
  fc.assert(
    fc.property(answer, status, policy, fc.boolean(), (json, status, policy, isDefaultId) => {
      const verdict = toVerdict({ status, json }, 'lot-1', { policy, isDefaultId });
      const { status: said, result } = Object(json);
      if (['fail', 'FAILED', false].includes(result)) expect(verdict.proceed).toBe(false);
      if (policy === 'faults' && status === 400) expect(verdict.proceed).toBe(false);
      if (policy === 'never') expect(verdict.proceed).toBe(verdict.__typename === 'CaptchaPassed');
      if (verdict.__typename === 'CaptchaPassed') expect([status, said, result]).toEqual([200, 'success', 'success']);
    }),
    { numRuns: 5_000 },
  );
});
