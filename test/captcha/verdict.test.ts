import { describe, expect, test } from 'vitest';
import { readResponse } from '../../src/captcha/contract.ts';
import { indeterminate, interpret } from '../../src/captcha/verdict.ts';
import type { Json } from '../faults/documented.ts';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import { ARGS, EXCEPTION, FAIL, INPUT, PASS, passWith } from './support.ts';

/**
 * Which responses are a pass, which a failure, and who can cause an exception, while the service is well. Section numbers are
 * the captcha document's. `indeterminate.test.ts` has what follows from what our probes show, and test/faults what cannot be read
 * and other statuses.
 */

const POLICIES = ['faults', 'always', 'never'] as const;
const WELL = { hasWorked: true, isDown: false, takeAllowance: () => true };

/** The outcome of a response under each policy, while our own probes get their answers. */
function outcomesOf(body: unknown, status = 200) {
  // What JSON has no text for, such as undefined, is not there.
  const response = readResponse(JSON.parse(JSON.stringify(body)), INPUT.lotNumber);
  const read = interpret(response, status, INPUT.lotNumber).result;
  const under = (policy: (typeof POLICIES)[number]) =>
    read.__typename === 'NoVerdict' ? indeterminate(read, { policy, ...WELL }) : read;
  return POLICIES.map(under);
}

/** These fields in every outcome; without a verdict only the policy `always` proceeds. */
const failed = (fields: object) => Array(3).fill({ __typename: 'CaptchaFailed', proceed: false, ...fields });
const withoutVerdict = (fields: object) =>
  [false, true, false].map((proceed) => ({
    __typename: 'CaptchaIndeterminate',
    proceed,
    isAllowed: false,
    ...fields,
  }));

describe('status, result and lot number make a pass (2.3, 2.4)', () => {
  // What the widget reports ends up in the details, so a bot could spoil its own pass and be let through for that.
  test.each<[string, unknown, number?]>([
    ['with HTTP status 302', PASS, 302],
    ['with HTTP status 201', PASS, 201],
    ['with HTTP status 403', PASS, 403],
    ['with an unknown status', { ...PASS, status: 'ok' }],
    ['with the status of an exception', { ...PASS, status: 'error' }],
    ['with the code of a failure of the service', { ...PASS, code: '-50000' }],
    ['with the code of a paused captcha id', { ...PASS, code: '-50105' }],
    ['with an undocumented code of the client', { ...PASS, code: '-50309' }],
    ['without a status', { ...PASS, status: undefined }],
    ['without details', { ...PASS, captcha_args: undefined }],
    ['without a lot number', passWith('lot_number')],
  ])('a pass %s is no verdict, and proceeds only if the operator lets everyone through', (_what, body, status) => {
    expect(outcomesOf(body, status)).toMatchObject(withoutVerdict({ cause: 'CLIENT' }));
  });

  test.each<[Json, string]>([
    ['lot-2', 'lot-2'],
    [999, 'something else than a text'],
    [['lot-2'], 'something else than a text'],
    [{ toString: 1 }, 'something else than a text'],
  ])('a pass for the lot number %j is a failure, even if other fields are wrong', (other, lotNumber) => {
    for (const body of [passWith('lot_number', other), { ...PASS, reason: null, captcha_args: { lot_number: other } }])
      expect(outcomesOf(body)).toMatchObject(failed({ category: 'LOT_NUMBER_MISMATCH', details: { lotNumber } }));
  });

  const only = { status: 'success', result: 'success', captcha_args: { lot_number: 'lot-1' } };
  const documented = ['reason', 'used_type', 'user_ip', 'scene', 'referer'];
  test.each<[string, unknown, object, unknown]>([
    ['a new reason', { ...PASS, reason: 'ok' }, {}, ['reason']],
    ['details of a wrong type', passWith('scene', 7), { scene: null }, ['scene']],
    ['no referer', passWith('referer'), { referer: null }, ['referer']],
    ['nothing else', only, { usedType: null, userIp: null }, expect.arrayContaining(documented)],
  ])('a pass with %s is a pass, and the difference is known', (_what, body, details, drifts) => {
    expect(outcomesOf(body)).toMatchObject(Array(3).fill({ __typename: 'CaptchaPassed', proceed: true, details }));
    expect(readResponse(JSON.parse(JSON.stringify(body)))).toMatchObject({ kind: 'pass', drifts });
  });

  test('a pass with further fields is a pass', () => {
    const { used_type: usedType, user_ip: userIp, lot_number: lotNumber, scene, referer } = ARGS;
    const details = { usedType, userIp, lotNumber, scene, referer };
    expect(outcomesOf({ ...PASS, extra: 1, captcha_args: { ...ARGS, extra: {} } })).toMatchObject(
      Array(3).fill({ __typename: 'CaptchaPassed', proceed: true, details }),
    );
  });
});

describe('a failure', () => {
  test.each<[string, unknown, number?]>([
    ['as documented', FAIL],
    ['with HTTP status 500', FAIL, 500],
    ['with HTTP status 302', FAIL, 302],
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
    ['as another result, without a status', { result: 'denied' }],
    ...['denied', 0, ['fail']].map((result): [string, unknown] => [
      `as the result ${JSON.stringify(result)} of an exception`,
      { status: 'error', code: '-50000', result },
    ]),
    ['as another result, with HTTP status 500', { status: 'success', result: 'reject' }, 500],
    ['as another result, with HTTP status 302', { status: 'success', result: 'reject' }, 302],
    ['as another result, under another spelling of the status', { status: ' SUCCESS', result: 'reject' }],
  ])('a failure %s is a failure under every policy', (_what, body, status) => {
    expect(outcomesOf(body, status)).toMatchObject(failed({ details: { lotNumber: 'lot-1' } }));
  });
});

describe('exceptions (7.2)', () => {
  test.each(exceptions)('$code has the cause $cause', ({ code, msg, cause }) => {
    expect(outcomesOf({ ...EXCEPTION, code, msg })).toMatchObject(
      withoutVerdict({ cause, code, type: 'defined error', message: expect.any(String) }),
    );
  });

  /** With these fields in place of the documented ones, the cause and the code are these. */
  test.each<[string, object, string, string | null, number?]>([
    ...['-50006', '-50009', '-50300', '-50309', '-50399'].map((code): [string, object, string, string] => [
      `${code}, which a later document may explain, belongs to a family that a client can cause`,
      { code },
      'CLIENT',
      code,
    ]),
    ...['-50100', '-50106', '-50199'].map((code): [string, object, string, string] => [
      `${code} belongs to the family of the captcha id`,
      { code },
      'CONFIGURATION',
      code,
    ]),
    ...['-50010', '-50200', '-50400', '-503090', '-5030', '50309', '-59999'].map(
      (code): [string, object, string, string] => [
        `${code} belongs to no documented family, so it is the service`,
        { code },
        'SERVICE',
        code,
      ],
    ),
    ['no code is the service', { code: undefined }, 'SERVICE', null],
    ['a numeric code is read as its text', { code: -50003 }, 'CLIENT', '-50003'],
    ['a numeric code of a family is read as its text', { code: -50309 }, 'CLIENT', '-50309'],
    ['a code between blanks is that code', { code: ' -50309\n' }, 'CLIENT', '-50309'],
    ['no status does not help a client', { status: undefined }, 'CLIENT', '-50003'],
    ['an empty result changes nothing', { code: '-50000', result: null }, 'SERVICE', '-50000'],
    ['an unknown code with HTTP status 403 is the client', { code: '-59999' }, 'CLIENT', '-59999', 403],
    ['a failure of the service with HTTP status 413 is the client', { code: '-50000' }, 'CLIENT', '-50000', 413],
    ['an HTTP status of 400 does not help a client', {}, 'CLIENT', '-50003', 400],
    ['an HTTP status of 502 does not help a client', {}, 'CLIENT', '-50003', 502],
  ])('of an exception, %s', (_what, fields, cause, code, status) => {
    expect(outcomesOf({ ...EXCEPTION, ...fields }, status)).toMatchObject(withoutVerdict({ cause, code }));
  });

  test.each([[undefined], [{ type: 4 }], [null]])('an exception with the desc %j has no type', (desc) => {
    expect(outcomesOf({ ...EXCEPTION, desc })).toMatchObject(withoutVerdict({ cause: 'CLIENT', type: null }));
  });

  test.each([400, 401, 403, 404, 413])('a bare %s is no exception, and can be provoked', (status) => {
    expect(outcomesOf('Request blocked', status)).toMatchObject(withoutVerdict({ cause: 'CLIENT', code: null }));
  });
});
