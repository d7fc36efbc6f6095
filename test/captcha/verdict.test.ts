import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { readResponse } from '../../src/captcha/contract.ts';
import { indeterminate, verdictOf } from '../../src/captcha/verdict.ts';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import { ARGS, EXCEPTION, FAIL, INPUT, PASS, startWithAllPolicies } from './support.ts';

/**
 * Which responses are a pass, which a failure, and who can cause an exception, while the service is well. Section numbers are
 * the captcha document's. `indeterminate.test.ts` has what follows from what our probes show.
 */

const { answerWithBytes, validate, stop } = await startWithAllPolicies();
afterAll(stop);

const POLICIES = ['faults', 'always', 'never'] as const;
const HEALTHY_PROBE = { hasWorked: true, isDown: false, takeAllowance: async () => true };

/** The outcome of a response under each policy, while our own probes get their answers. */
function outcomesOf(body: unknown, status = 200) {
  // What JSON has no text for, such as undefined, is not there.
  const read = verdictOf(readResponse({ json: JSON.parse(JSON.stringify(body)) }), status, INPUT.lotNumber);
  const under = (policy: (typeof POLICIES)[number]) =>
    read.__typename === 'NoVerdict' ? indeterminate(read, { policy, ...HEALTHY_PROBE }) : read;
  return Promise.all(POLICIES.map(under));
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
    ['without a lot number', { ...PASS, captcha_args: { ...ARGS, lot_number: undefined } }],
  ])(
    'a pass %s is no verdict, and proceeds only if the operator lets everyone through',
    async (_what, body, status) => {
      expect(await outcomesOf(body, status)).toMatchObject(withoutVerdict({ cause: 'CLIENT' }));
    },
  );

  test.each<[unknown, string]>([
    ['lot-2', 'lot-2'],
    [999, 'something else than a text'],
    [['lot-2'], 'something else than a text'],
    [{ toString: 1 }, 'something else than a text'],
  ])('a pass for the lot number %j is a failure, even if other fields are wrong', async (other, lotNumber) => {
    for (const body of [
      { ...PASS, captcha_args: { ...ARGS, lot_number: other } },
      { ...PASS, reason: null, captcha_args: { lot_number: other } },
    ])
      expect(await outcomesOf(body)).toMatchObject(failed({ category: 'LOT_NUMBER_MISMATCH', details: { lotNumber } }));
  });

  const only = { status: 'success', result: 'success', captcha_args: { lot_number: 'lot-1' } };
  test.each<[string, unknown, object, string[]]>([
    ['a new reason', { ...PASS, reason: 'ok' }, {}, ['reason']],
    ['details of a wrong type', { ...PASS, captcha_args: { ...ARGS, scene: 7 } }, { scene: null }, ['scene']],
    ['no referer', { ...PASS, captcha_args: { ...ARGS, referer: undefined } }, { referer: null }, ['referer']],
    ['nothing else', only, { usedType: null, userIp: null }, ['reason', 'used_type', 'user_ip', 'scene', 'referer']],
  ])('a pass with %s is a pass, and the difference is known', async (_what, body, details, drifts) => {
    expect(await outcomesOf(body)).toMatchObject(
      Array(3).fill({ __typename: 'CaptchaPassed', proceed: true, details }),
    );
    expect(readResponse({ json: JSON.parse(JSON.stringify(body)) })).toMatchObject({ kind: 'pass', drifts });
  });

  test('a pass with further fields is a pass', async () => {
    const details = { usedType: 'slide', userIp: '203.0.113.9', lotNumber: 'lot-1', scene: 'login' };
    expect(await outcomesOf({ ...PASS, extra: 1, captcha_args: { ...ARGS, extra: {} } })).toMatchObject(
      Array(3).fill({ __typename: 'CaptchaPassed', proceed: true, details }),
    );
  });
});

const GZIP = { 'content-encoding': 'gzip' };
const CUT_OFF = { 'content-length': '99999', connection: 'close' };
const json = JSON.stringify(FAIL);

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
  ])('a failure %s is a failure under every policy', async (_what, body, status) => {
    expect(await outcomesOf(body, status)).toMatchObject(failed({ details: { lotNumber: 'lot-1' } }));
  });

  test.each<[string, string, object, number]>([
    ['under an empty content-encoding', json, { 'content-encoding': '' }, 200],
    ['with HTTP status 503 and a content-type of HTML', json, { 'content-type': 'text/html' }, 503],
    ['with HTTP status 503 after a byte order mark', `\u00ef\u00bb\u00bf${json}`, {}, 503],
    ['with HTTP status 503 on a connection that then breaks', json, CUT_OFF, 503],
    ['with HTTP status 503 and far too many blanks', json.padEnd(300_000), {}, 503],
  ])('a failure %s is a failure under every policy', async (_what, body, headers, status) => {
    answerWithBytes(body, { ...headers }, status);
    for (const policy of POLICIES)
      expect(await validate(INPUT, policy)).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
  });
});

describe('a 200 that nobody can read may be a rejection', () => {
  // `test/upstream/transport.test.ts` has all that cannot be read.
  test.each<[string, string, string, object?]>([
    ['with more before it', `)]}',\n${json}`, 'CLIENT'],
    ['in gzip', gzipSync(json).toString('latin1'), 'CLIENT', GZIP],
    ['that is too long', json.padEnd(300_000), 'TRANSPORT'],
    ['in an object', `{"data":${json}}`, 'TRANSPORT'],
    ['in XML', '<verification status="success" result="fail"/>', 'TRANSPORT'],
    ['as a code of next year', '{"code":"-59999"}', 'TRANSPORT'],
  ])('a 200 with a failure %s proceeds under no policy', async (_what, body, cause, headers = {}) => {
    answerWithBytes(body, { ...headers });
    for (const policy of POLICIES) {
      const expected = { __typename: 'CaptchaIndeterminate', cause, code: null, proceed: false };
      expect(await validate(INPUT, policy)).toMatchObject(expected);
    }
  });
});

describe('a status other than 200 (7.3)', () => {
  const PAGE = '<html><script>window.__e={"ray":"1"}</script>Service unavailable</html>';
  test.each<[string, number, string, string, object?]>([
    ...[500, 502, 503, 504, 520].map((status): [string, number, string, string] => [
      'a page with a script',
      status,
      PAGE,
      'TRANSPORT',
    ]),
    ['an empty body', 503, '', 'TRANSPORT'],
    ['the JSON of a gateway', 503, '{"message":"Service Unavailable"}', 'TRANSPORT'],
    ['the JSON of a gateway as HTML', 502, '{"error":{"code":502}}', 'TRANSPORT', { 'content-type': 'text/html' }],
    ['a byte order mark before JSON', 503, '\u00ef\u00bb\u00bf{"result":null}', 'TRANSPORT'],
    ['JSON that ends too early', 503, '{"status":"success","res', 'TRANSPORT'],
    ['a connection that breaks', 503, PAGE, 'TRANSPORT', CUT_OFF],
    ['more than is read', 503, PAGE.padEnd(300_000), 'TRANSPORT'],
    ['a compressed page', 503, gzipSync(PAGE).toString('latin1'), 'TRANSPORT', GZIP],
    ['JSONP', 503, `callback(${json})`, 'TRANSPORT'],
    ['a pass', 500, JSON.stringify(PASS), 'TRANSPORT'],
    ['a pass without a status', 503, '{"result":"success"}', 'TRANSPORT'],
    ['an exception of the service', 500, JSON.stringify({ ...EXCEPTION, code: '-50000' }), 'SERVICE'],
    ['the error of an API in the form of an exception', 503, '{"status":"error","code":503}', 'SERVICE'],
    // The document does not tell the status of an exception (7.3), and a bot can replay a challenge.
    ['an exception that a client can cause', 500, JSON.stringify(EXCEPTION), 'CLIENT'],
    ['a page with a script', 302, PAGE, 'TRANSPORT'],
    ['a connection that breaks', 302, PAGE, 'TRANSPORT', CUT_OFF],
    ['a page', 403, PAGE, 'CLIENT'],
    ['a connection that breaks', 404, PAGE, 'CLIENT', CUT_OFF],
  ])(
    '%s with HTTP status %i proceeds under the policy `always` alone',
    async (_what, status, body, cause, headers = {}) => {
      answerWithBytes(body, { ...headers }, status);
      for (const policy of POLICIES)
        expect(await validate(INPUT, policy)).toMatchObject({
          __typename: 'CaptchaIndeterminate',
          cause,
          proceed: policy === 'always',
        });
    },
  );
});

describe('exceptions (7.2)', () => {
  test.each(exceptions)('$code has the cause $cause', async ({ code, msg, cause }) => {
    expect(await outcomesOf({ ...EXCEPTION, code, msg })).toMatchObject(
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
  ])('of an exception, %s', async (_what, fields, cause, code, status) => {
    expect(await outcomesOf({ ...EXCEPTION, ...fields }, status)).toMatchObject(withoutVerdict({ cause, code }));
  });

  test.each([[undefined], [{ type: 4 }], [null]])('an exception with the desc %j has no type', async (desc) => {
    expect(await outcomesOf({ ...EXCEPTION, desc })).toMatchObject(withoutVerdict({ cause: 'CLIENT', type: null }));
  });

  test.each([400, 401, 403, 404, 413])('a bare %s is no exception, and can be provoked', async (status) => {
    expect(await outcomesOf('Request blocked', status)).toMatchObject(withoutVerdict({ cause: 'CLIENT', code: null }));
  });
});
