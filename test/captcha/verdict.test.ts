import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { ARGS, INPUT, PASS, startWithAllPolicies } from './support.ts';

/** Which responses are a pass, and which a failure. Section numbers are the captcha document's. */

const { apps, answerWith, answerWithBytes, validate, stop } = await startWithAllPolicies();
afterAll(stop);

const FAIL_ARGS = { used_type: 'slide', user_ip: '203.0.113.9', lot_number: 'lot-1' };
const FAIL = { status: 'success', result: 'fail', reason: 'pass_token expire', captcha_args: FAIL_ARGS };
const POLICIES = ['faults', 'always', 'never'] as const;

describe('only exactly the documented pass is one (2.3, 2.4)', () => {
  // What the widget reports ends up in the details, so a bot could spoil its own pass and be let through for that.
  test.each<[string, unknown, number?]>([
    ['with HTTP status 500', PASS, 500],
    ['with HTTP status 302', PASS, 302],
    ['with HTTP status 201', PASS, 201],
    ['with HTTP status 403', PASS, 403],
    ['with an unknown status', { ...PASS, status: 'ok' }],
    ['with the status of an exception', { ...PASS, status: 'error' }],
    ['with the code of a failure of the service', { ...PASS, code: '-50000' }],
    ['with the code of a paused captcha id', { ...PASS, code: '-50105' }],
    ['with an undocumented code of the client', { ...PASS, code: '-50309' }],
    ['without a status', { ...PASS, status: undefined }],
    ['with a reason', { ...PASS, reason: 'ok' }],
    ['without a reason', { ...PASS, reason: undefined }],
    ['without details', { ...PASS, captcha_args: undefined }],
    ['with details of a wrong type', { ...PASS, captcha_args: { ...ARGS, scene: 7 } }],
    ['without a referer', { ...PASS, captcha_args: { ...ARGS, referer: undefined } }],
    ['without a lot number', { ...PASS, captcha_args: { ...ARGS, lot_number: undefined } }],
  ])('%s it is no verdict, and does not proceed', async (_what, body, status) => {
    answerWith(body, status);
    expect(await validate()).toMatchObject({ __typename: 'CaptchaIndeterminate', cause: 'CLIENT', proceed: false });
    expect(await validate(INPUT, 'never')).toMatchObject({ cause: 'CLIENT', proceed: false });
    // Nobody was rejected, so the operator can decide to let people through until the reason is found.
    expect(await validate(INPUT, 'always')).toMatchObject({ cause: 'CLIENT', proceed: true });
  });

  test.each<[string, string, Record<string, string>?]>([
    [
      'with a byte that UTF-8 does not have',
      JSON.stringify({ ...PASS, captcha_args: { ...ARGS, scene: 'login\u00ff' } }),
    ],
    ['with more after it', `${JSON.stringify(PASS)}<script></script>`],
    ['twice', JSON.stringify(PASS).repeat(2)],
    ['as JSONP', `callback(${JSON.stringify(PASS)})`],
    ['that claims to be compressed', JSON.stringify(PASS), { 'content-encoding': 'gzip' }],
  ])('%s it is no verdict, and does not proceed', async (_what, body, headers) => {
    answerWithBytes(body, headers);
    for (const policy of ['faults', 'never'] as const) {
      expect(await validate(INPUT, policy)).toMatchObject({
        __typename: 'CaptchaIndeterminate',
        cause: 'CLIENT',
        proceed: false,
      });
    }
  });

  test.each<[string, unknown]>([
    ['as a list', [PASS]],
    ['as a text', JSON.stringify(PASS)],
    ['as null', null],
  ])('%s it is no answer of the service, and does not proceed while the service is well', async (_what, body) => {
    answerWith(body);
    expect(await validate()).toMatchObject({
      __typename: 'CaptchaIndeterminate',
      cause: 'TRANSPORT',
      code: null,
      proceed: false,
    });
    expect(await validate(INPUT, 'always')).toMatchObject({ cause: 'TRANSPORT', proceed: true });
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
    ['as a status', { ...FAIL, status: 'fail', result: undefined }],
    ['as a status in another form, with the other fields of a pass', { ...PASS, status: 'Failed' }],
    ['as a status, with HTTP status 503', { status: 'fail' }, 503],
    ['with a documented reason of a failure beside a pass (7.1)', { ...PASS, reason: 'illegal sign_token' }],
    ['with the code of an exception', { ...FAIL, code: '-50000' }],
    // Section 2.4 has two results. Whatever is not the one of a pass is a "no".
    ...['reject', 'expired', 'ok', 'Success', '', 0, 1, true, null, {}, [], ['success']].map(
      (result): [string, unknown] => [`as the result ${JSON.stringify(result)}`, { ...PASS, result }],
    ),
    ['as no result', { ...PASS, result: undefined }],
    ['as no result, with the code of an exception', { status: 'success', code: '-50000' }],
    ['as another result, with HTTP status 500', { status: 'success', result: 'reject' }, 500],
    ['as another result, with HTTP status 302', { status: 'success', result: 'reject' }, 302],
    ['as another result, under another spelling of the status', { status: ' SUCCESS', result: 'reject' }],
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
    ['under a content-encoding that it does not have', FAIL, { 'content-encoding': 'gzip' }],
    ['under an unknown content-encoding', FAIL, { 'content-encoding': 'zstd, br' }],
  ])('%s', async (_what, body, headers) => {
    answerWithBytes(JSON.stringify(body), headers);
    for (const policy of POLICIES) {
      expect(await validate(INPUT, policy)).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
    }
  });
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])('a failure is one even if the service compresses it with %s, which nobody asked for', async (encoding, compress) => {
  answerWithBytes(compress(JSON.stringify(FAIL)).toString('latin1'), { 'content-encoding': encoding });
  for (const policy of POLICIES) {
    expect(await validate(INPUT, policy)).toMatchObject({
      __typename: 'CaptchaFailed',
      proceed: false,
      category: 'PASS_TOKEN_EXPIRED',
    });
  }
});

test.each(['<html>', 'callback(', ''])('a failure is one between %j and more text', async (before) => {
  answerWithBytes(`${before}${JSON.stringify({ ...FAIL, reason: '}"{' })}</html>`);
  for (const policy of POLICIES) {
    expect(await validate(INPUT, policy)).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
  }
});

test('a failure of which the document knows nothing is logged without its values', async () => {
  answerWith({ ...PASS, result: 'personal' });
  await validate();
  expect(apps.faults.logged()).toContain('result: invalid_value');
  expect(apps.faults.logged()).not.toContain('personal');
});

test('a failure as documented is not logged', async () => {
  const before = apps.faults.logged().length;
  answerWith(FAIL);
  await validate();
  expect(apps.faults.logged().slice(before)).not.toContain('"level":"warn"');
});
