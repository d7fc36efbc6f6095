import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { answer, type Behaviour } from '../support/hostile.ts';
import {
  ANDROID,
  altered,
  DEEP_OBJECTS,
  errorEnvelope,
  exception,
  FAIL,
  nested,
  PASS,
  SIGNAL,
  spliced,
  WEB,
} from './documented.ts';
import { answers, NO_ANSWER, REFUSAL, type Row, type UpstreamCode } from './fault-table.ts';

/** Answers of one of the services that are JSON, and what must become of each. */

interface JsonFault {
  readonly fault: string;
  readonly behave: Behaviour;
  /** An error, or at least this data. */
  readonly expected: UpstreamCode | object;
}

interface CaptchaFault extends JsonFault {
  readonly expected: object;
}

const PROTOCOL = 'UPSTREAM_PROTOCOL_ERROR';
const REJECTED = 'UPSTREAM_REJECTED';
const ok = (body: string) => answer(200, body);

const EVERYWHERE = [
  ...['code', 'message', 'data', 'data.request_id', 'data.event_id', 'data.fp_detail', 'data.fp_detail.device_id'],
  ...['data.fp_detail.version', 'data.signals', 'data.signals.0.signal', 'data.signals.0.level'],
  ...['data.signals.0.confidence', 'data.detail', 'data.detail.client_type', 'data.detail.device_basic'],
  ...['data.detail.ip_info', 'data.detail.ip_info.ip'],
];
const PHONE = ['os', 'pla', 'mod', 'osv'].map((key) => `data.detail.device_basic.${key}`);
const BROWSER = ['browser', 'device', 'os'].map((key) => `data.detail.device_basic.${key}`);
const ADDITIONAL = 'data.detail.device_basic.browser';

/** Design, section 2: "unknown extra fields are tolerated, wrong types are not". */
const shape: readonly JsonFault[] = [
  ...[...EVERYWHERE, ...PHONE].flatMap((path): JsonFault[] => [
    { fault: `no ${path}`, behave: ok(altered(ANDROID, path)), expected: PROTOCOL },
    { fault: `${path} is null`, behave: ok(altered(ANDROID, path, null)), expected: PROTOCOL },
  ]),
  ...BROWSER.flatMap((path): JsonFault[] => [
    { fault: `browser without ${path}`, behave: ok(altered(WEB, path)), expected: PROTOCOL },
    { fault: `browser where ${path} is text`, behave: ok(altered(WEB, path, 'text')), expected: PROTOCOL },
  ]),
  ...([1.5, -0.1, '1', true] as const).map(
    (value): JsonFault => ({
      fault: `confidence ${JSON.stringify(value)}`,
      behave: ok(altered(ANDROID, 'data.signals.0.confidence', value)),
      expected: PROTOCOL,
    }),
  ),
  ...['1e400', '-1e400'].map(
    (infinity): JsonFault => ({
      fault: `confidence ${infinity}, which is beyond all numbers`,
      behave: ok(spliced(ANDROID, 'data.signals.0.confidence', infinity)),
      expected: PROTOCOL,
    }),
  ),
  ...['EXTREME', 'high', ''].map(
    (level): JsonFault => ({
      fault: `level "${level}"`,
      behave: ok(altered(ANDROID, 'data.signals.0.level', level)),
      expected: PROTOCOL,
    }),
  ),
  ...['Windows', 'android', 'Web'].map(
    (type): JsonFault => ({
      fault: `client_type "${type}"`,
      behave: ok(altered(ANDROID, 'data.detail.client_type', type)),
      expected: PROTOCOL,
    }),
  ),
  {
    fault: 'a signal that no catalogue has',
    behave: ok(altered(ANDROID, 'data.signals', [{ ...SIGNAL, signal: 'BRAND_NEW' }, SIGNAL])),
    expected: {
      signals: [
        { name: 'BRAND_NEW', code: null, effect: null, meaning: null, level: 'HIGH' },
        { name: 'EMULATOR', code: 'EMULATOR' },
      ],
    },
  },
  {
    fault: 'a signal named like a member of every object',
    behave: ok(altered(ANDROID, 'data.signals.0.signal', 'constructor')),
    expected: { signals: [{ name: 'constructor', code: null }] },
  },
];

const FIELD_ERROR = { field: 'device_token', reason: 'Invalid token', type: 'value_error' };
const refusing = (data: object) => answer(400, errorEnvelope(400, 'Invalid request', data));
const NOT_THIS_TOKEN = {
  __typename: 'DeviceFingerprintRejected',
  reason: 'INVALID_TOKEN',
  errors: [{ ...FIELD_ERROR, field: 'token' }],
};

/** Fingerprint document, section 4, rule 1, and section 7. */
const envelopes: readonly JsonFault[] = [
  {
    fault: '500 as documented',
    behave: answer(500, errorEnvelope(500, 'Internal server error')),
    expected: 'UPSTREAM_UNAVAILABLE',
  },
  { fault: '401 as documented', behave: answer(401, errorEnvelope(401, 'Invalid bearer token')), expected: REJECTED },
  { fault: '403 as documented', behave: answer(403, errorEnvelope(403, 'Forbidden')), expected: REJECTED },
  { fault: '404 as documented', behave: answer(404, errorEnvelope(404, 'integration not found')), expected: REJECTED },
  { fault: '200 with code 500', behave: ok(errorEnvelope(500, 'Internal server error')), expected: PROTOCOL },
  { fault: '200 with all but the code', behave: ok(altered(ANDROID, 'code', 201)), expected: PROTOCOL },
  { fault: '200 with a code that is text', behave: ok(altered(ANDROID, 'code', '200')), expected: PROTOCOL },
  { fault: '500 with code 200', behave: answer(500, JSON.stringify(ANDROID)), expected: PROTOCOL },
  { fault: '401 with code 403', behave: answer(401, errorEnvelope(403, 'Forbidden')), expected: PROTOCOL },
  { fault: '400 as documented', behave: refusing({ errors: [FIELD_ERROR] }), expected: NOT_THIS_TOKEN },
  {
    fault: '400 without errors',
    behave: refusing({}),
    expected: { ...NOT_THIS_TOKEN, reason: 'INVALID_INPUT', errors: [] },
  },
  { fault: '400 with errors that are text', behave: refusing({ errors: 'all' }), expected: PROTOCOL },
  { fault: '400 with an error that is empty', behave: refusing({ errors: [{}] }), expected: PROTOCOL },
  { fault: '400 with code 200', behave: answer(400, JSON.stringify(ANDROID)), expected: PROTOCOL },
];

/** Design, section 2: "`__proto__` and friends stripped from free-form objects". */
const objects: readonly JsonFault[] = [
  ...['__proto__', '\\u005f_proto__', 'constructor'].map(
    (key): JsonFault => ({
      fault: `${key} in a free-form object`,
      behave: ok(
        spliced(
          WEB,
          ADDITIONAL,
          `{"${key}":{"prototype":{"evil":1}},"inner":{"${key}":{"prototype":{}},"b":2},"name":"F"}`,
        ),
      ),
      expected: { deviceBasic: { browser: { name: 'F', additional: { inner: { b: 2 } } } } },
    }),
  ),
  {
    fault: 'an answer that is only in __proto__',
    behave: ok(`{"code":200,"message":"Success","__proto__":{"data":${JSON.stringify(ANDROID.data)}}}`),
    expected: PROTOCOL,
  },
  ...[DEEP_OBJECTS, nested(100_000), DEEP_OBJECTS.replace('1', '{"__proto__":1}')].map(
    (json, index): JsonFault => ({
      fault: `20,000 levels or more in a free-form object, kind ${index + 1}`,
      behave: ok(spliced(WEB, ADDITIONAL, `{"name":"F","deep":${json}}`)),
      expected: PROTOCOL,
    }),
  ),
  {
    fault: '20,000 levels in a field that nobody reads',
    behave: ok(JSON.stringify(ANDROID).replace('"data":{', `"data":{"new":${DEEP_OBJECTS},`)),
    expected: { clientType: 'ANDROID' },
  },
];

/** These are not faults, but unusual (RFC 8259, 8.1: a byte order mark may be ignored). */
const odd: readonly JsonFault[] = [
  { fault: 'a byte order mark', behave: ok(`\ufeff${JSON.stringify(ANDROID)}`), expected: { clientType: 'ANDROID' } },
];

export const FINGERPRINT_FAULTS: readonly Row[] = [...shape, ...envelopes, ...objects, ...odd].map(
  ({ fault, behave, expected }) => answers(fault, behave, { fingerprint: expected }),
);

const COMPRESS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const NO = { __typename: 'CaptchaFailed', proceed: false, category: 'PASS_TOKEN_EXPIRED' };
const REPLAYED = { __typename: 'CaptchaIndeterminate', cause: 'CLIENT', code: '-50003', proceed: false };
const replayed = exception('-50003', 'illegal verify');

const UNKNOWN_NO = { ...NO, category: 'OTHER' };

/**
 * Design, section 2: what passes, who can cause which exception, and the policy `faults`. Section 7.5: after
 * `status: "success"` only the pass, entire, lets a request proceed.
 */
const verdicts: readonly CaptchaFault[] = [
  ...[401, 403, 404, 429, 500, 502, 302].flatMap((status): CaptchaFault[] => [
    {
      fault: `a pass with ${status}`,
      behave: answer(status, JSON.stringify(PASS)),
      expected: REFUSAL,
    },
    { fault: `a "fail" with ${status}`, behave: answer(status, JSON.stringify(FAIL)), expected: NO },
    { fault: `a replay with ${status}`, behave: answer(status, replayed), expected: REPLAYED },
  ]),
  {
    fault: '500 as documented',
    behave: answer(500, exception('-50000', 'runtime error')),
    expected: { cause: 'SERVICE', code: '-50000', proceed: false },
  },
  // What the browser of a bot reports, such as the referer, ends up in the details.
  ...['status', 'captcha_args', 'captcha_args.lot_number', 'captcha_args.user_ip', 'captcha_args.referer'].map(
    (path): CaptchaFault => ({
      fault: `a pass without ${path}`,
      behave: ok(altered(PASS, path)),
      expected: REFUSAL,
    }),
  ),
  { fault: 'a pass without result', behave: ok(altered(PASS, 'result')), expected: UNKNOWN_NO },
  ...['reject', 'expired', 0, null, true, {}].map(
    (result): CaptchaFault => ({
      fault: `the result ${JSON.stringify(result)}`,
      behave: ok(altered(PASS, 'result', result)),
      expected: UNKNOWN_NO,
    }),
  ),
  { fault: 'the status "fail"', behave: ok(altered(PASS, 'status', 'fail')), expected: UNKNOWN_NO },
  ...['-50006', '-50309'].map(
    (code): CaptchaFault => ({
      fault: `the undocumented ${code}`,
      behave: ok(exception(code, 'new error')),
      expected: { ...REPLAYED, code },
    }),
  ),
  {
    fault: 'a pass for another lot number',
    behave: ok(altered(PASS, 'captcha_args.lot_number', 'lot-two')),
    expected: { proceed: false },
  },
  ...[999, ['lot-two']].map(
    (other): CaptchaFault => ({
      fault: `a pass for ${JSON.stringify(other)}, which is no lot number at all`,
      behave: ok(altered(PASS, 'captcha_args.lot_number', other)),
      expected: { __typename: 'CaptchaFailed', proceed: false, category: 'LOT_NUMBER_MISMATCH' },
    }),
  ),
  {
    fault: 'a pass that is only in __proto__',
    behave: ok(`{"__proto__":${JSON.stringify(PASS)}}`),
    expected: NO_ANSWER,
  },
  { fault: 'a "fail" without details', behave: ok(altered(FAIL, 'captcha_args')), expected: NO },
  {
    fault: 'a "fail" in invalid UTF-8',
    behave: answer(200, Buffer.from(altered(FAIL, 'captcha_args.used_type', 'slide\u00ff'), 'latin1')),
    expected: NO,
  },
  {
    fault: 'a "fail" under an encoding without a name',
    behave: answer(200, JSON.stringify(FAIL), { 'content-encoding': '' }),
    expected: NO,
  },
  ...(['gzip', 'deflate', 'br'] as const).map(
    (encoding): CaptchaFault => ({
      fault: `a "fail" in ${encoding}, which nobody asked for`,
      behave: answer(200, COMPRESS[encoding](JSON.stringify(FAIL)), { 'content-encoding': encoding }),
      expected: NO,
    }),
  ),
  {
    fault: 'a pass in gzip, which nobody asked for',
    behave: answer(200, gzipSync(JSON.stringify(PASS)), { 'content-encoding': 'gzip' }),
    expected: REFUSAL,
  },
  {
    // The client cannot read what follows. A bot could cause this only if it could make the service send it.
    fault: 'a "fail" after a 100 Continue, which nobody asked for',
    behave: (exchange) => {
      exchange.socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      ok(JSON.stringify(FAIL))(exchange);
    },
    expected: NO_ANSWER,
  },
  {
    fault: 'a "fail" to which a proxy has added',
    behave: ok(`${JSON.stringify(FAIL)}<script></script>`),
    expected: NO,
  },
  {
    fault: 'a "fail" beside 20,000 levels',
    behave: ok(JSON.stringify(FAIL).replace('{', `{"new":${DEEP_OBJECTS},`)),
    expected: NO,
  },
  // This is not a fault: a byte order mark may be ignored (RFC 8259, 8.1).
  {
    fault: 'a byte order mark',
    behave: ok(`\ufeff${JSON.stringify(PASS)}`),
    expected: { __typename: 'CaptchaPassed' },
  },
];

export const CAPTCHA_FAULTS: readonly Row[] = verdicts.map(({ fault, behave, expected }) =>
  answers(fault, behave, { captcha: expected }),
);
