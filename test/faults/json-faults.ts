import { answer, type Behaviour, thenClose } from '../support/hostile.ts';
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

/** Answers of one of the services that are JSON, and what must become of each: an error, or at least this data. */

type Fault<Expected> = readonly [fault: string, behave: Behaviour, expected: Expected];
type FingerprintFault = Fault<UpstreamCode | object>;
type CaptchaFault = Fault<object>;

const PROTOCOL = 'UPSTREAM_PROTOCOL_ERROR';
const REJECTED = 'UPSTREAM_REJECTED';
const ok = (body: string) => answer(200, body);
const text = (value: unknown) => JSON.stringify(value);
const basic = (...keys: readonly string[]) => keys.map((key) => `data.detail.device_basic.${key}`);

const ON_A_PHONE = [
  ...['code', 'message', 'data', 'data.request_id', 'data.event_id', 'data.fp_detail', 'data.fp_detail.device_id'],
  ...['data.fp_detail.version', 'data.signals', 'data.signals.0.signal', 'data.signals.0.level'],
  ...['data.signals.0.confidence', 'data.detail', 'data.detail.client_type', 'data.detail.device_basic'],
  ...['data.detail.ip_info', 'data.detail.ip_info.ip', ...basic('os', 'pla', 'mod', 'osv')],
];
const [CONFIDENCE, LEVEL, NAME] = ['data.signals.0.confidence', 'data.signals.0.level', 'data.signals.0.signal'];
const TYPE = 'data.detail.client_type';
const CAR = JSON.parse(altered(ANDROID, TYPE, 'Car'));
const isNew = { name: 'BRAND_NEW', code: null, effect: null, meaning: null, level: 'HIGH' };

/** Unknown extra fields are tolerated, and wrong types are not. */
const shape: readonly FingerprintFault[] = [
  ...ON_A_PHONE.flatMap((path): FingerprintFault[] => [
    [`no ${path}`, ok(altered(ANDROID, path)), PROTOCOL],
    [`${path} is null`, ok(altered(ANDROID, path, null)), PROTOCOL],
  ]),
  ...basic('browser', 'device', 'os').flatMap((path): FingerprintFault[] => [
    [`browser without ${path}`, ok(altered(WEB, path)), PROTOCOL],
    [`browser where ${path} is text`, ok(altered(WEB, path, 'text')), PROTOCOL],
  ]),
  ...(
    [
      ...[1.5, -0.1, '1', true].map((value) => [CONFIDENCE, value]),
      ...[3, true].flatMap((value) => [
        [LEVEL, value],
        [TYPE, value],
      ]),
      [NAME, ''],
      // Safe: these are pairs of a path and a value.
    ] as [string, string | number | boolean][]
  ).map(
    ([path, value]): FingerprintFault => [`${path} is ${text(value)}`, ok(altered(ANDROID, path, value)), PROTOCOL],
  ),
  // A vendor's new word costs no device.
  ...['CRITICAL', 'high', 'constructor', ''].map((value): FingerprintFault => {
    const highest = { signals: [{ name: 'EMULATOR', level: 'HIGH', confidence: 0.95 }] };
    return [`the new level ${text(value)}`, ok(altered(ANDROID, LEVEL, value)), highest];
  }),
  ...['Car', 'android', 'OTHER', 'constructor', ''].map((value): FingerprintFault => {
    const known = { clientType: 'OTHER', deviceBasic: null, signals: [{ name: 'EMULATOR' }], ipInfo: {} };
    return [`the new client type ${text(value)}`, ok(altered(ANDROID, TYPE, value)), known];
  }),
  [
    'a new client type with a basic of its own',
    ok(altered(CAR, 'data.detail.device_basic', [1])),
    { deviceBasic: null },
  ],
  ['a new client type without an address', ok(altered(CAR, 'data.detail.ip_info')), PROTOCOL],
  // Both are beyond all numbers.
  ['confidence 1e400', ok(spliced(ANDROID, CONFIDENCE, '1e400')), PROTOCOL],
  ['confidence -1e400', ok(spliced(ANDROID, CONFIDENCE, '-1e400')), PROTOCOL],
  [
    'a signal that no catalogue has',
    ok(altered(ANDROID, 'data.signals', [{ ...SIGNAL, signal: 'BRAND_NEW' }, SIGNAL])),
    { signals: [isNew, { name: 'EMULATOR', code: 'EMULATOR' }] },
  ],
  [
    'a signal named like a member of every object',
    ok(altered(ANDROID, 'data.signals.0.signal', 'constructor')),
    { signals: [{ name: 'constructor', code: null }] },
  ],
];

const FIELD_ERROR = { field: 'device_token', reason: 'Invalid token', type: 'value_error' };
const refusing = (data: object) => answer(400, errorEnvelope(400, 'Invalid request', data));
const NOT_THIS_TOKEN = {
  __typename: 'DeviceFingerprintRejected',
  reason: 'INVALID_TOKEN',
  errors: [{ ...FIELD_ERROR, field: 'token' }],
};

/** Fingerprint document, section 4, rule 1, and section 7. */
const envelopes: readonly FingerprintFault[] = [
  ['500 as documented', answer(500, errorEnvelope(500, 'Internal server error')), 'UPSTREAM_UNAVAILABLE'],
  ['401 as documented', answer(401, errorEnvelope(401, 'Invalid bearer token')), REJECTED],
  ['403 as documented', answer(403, errorEnvelope(403, 'Forbidden')), REJECTED],
  ['404 as documented', answer(404, errorEnvelope(404, 'integration not found')), REJECTED],
  ['200 with code 500', ok(errorEnvelope(500, 'Internal server error')), PROTOCOL],
  ['200 with all but the code', ok(altered(ANDROID, 'code', 201)), PROTOCOL],
  ['200 with a code that is text', ok(altered(ANDROID, 'code', '200')), PROTOCOL],
  ['500 with code 200', answer(500, text(ANDROID)), PROTOCOL],
  ['401 with code 403', answer(401, errorEnvelope(403, 'Forbidden')), PROTOCOL],
  ['400 as documented', refusing({ errors: [FIELD_ERROR] }), NOT_THIS_TOKEN],
  ['400 without errors', refusing({}), { ...NOT_THIS_TOKEN, reason: 'INVALID_INPUT', errors: [] }],
  ['400 with errors that are text', refusing({ errors: 'all' }), PROTOCOL],
  ['400 with an error that is empty', refusing({ errors: [{}] }), PROTOCOL],
  ['400 with code 200', answer(400, text(ANDROID)), PROTOCOL],
];

/** A browser about which this is known, as JSON text. */
const browser = (json: string) => ok(spliced(WEB, 'data.detail.device_basic.browser', json));
const NAMED = (key: string) =>
  `{"${key}":{"prototype":{"evil":1}},"inner":{"${key}":{"prototype":{}},"b":2},"name":"F"}`;

/** `__proto__` and the like are data, and what nests too deep is refused as a whole. */
const objects: readonly FingerprintFault[] = [
  ...['__proto__', '\\u005f_proto__', 'constructor'].map((key): FingerprintFault => {
    const { name, ...additional } = JSON.parse(NAMED(key));
    return [`${key} in a free-form object`, browser(NAMED(key)), { deviceBasic: { browser: { name, additional } } }];
  }),
  [
    'an answer that is only in __proto__',
    ok(`{"code":200,"message":"Success","__proto__":{"data":${text(ANDROID.data)}}}`),
    PROTOCOL,
  ],
  ...[DEEP_OBJECTS, nested(100_000), DEEP_OBJECTS.replace('1', '{"__proto__":1}')].map(
    (json, index): FingerprintFault => [
      `20,000 levels or more in a free-form object, kind ${index + 1}`,
      browser(`{"name":"F","deep":${json}}`),
      PROTOCOL,
    ],
  ),
  [
    '20,000 levels in a field that nobody reads',
    ok(spliced({ ...ANDROID, data: { ...ANDROID.data, new: null } }, 'data.new', DEEP_OBJECTS)),
    PROTOCOL,
  ],
  // This is not a fault: a byte order mark may be ignored (RFC 8259, 8.1).
  ['a byte order mark', ok(`\ufeff${text(ANDROID)}`), { clientType: 'ANDROID' }],
  ['half a character', browser('{"name":"\\ud83d"}'), { deviceBasic: { browser: { name: '\ufffd' } } }],
];

export const FINGERPRINT_FAULTS: readonly Row[] = [...shape, ...envelopes, ...objects].map(
  ([fault, behave, fingerprint]) => answers(fault, behave, { fingerprint }),
);

const NO = { __typename: 'CaptchaFailed', proceed: false, category: 'PASS_TOKEN_EXPIRED' };
const REPLAYED = { __typename: 'CaptchaIndeterminate', cause: 'CLIENT', code: '-50003', proceed: false };

/**
 * Who can cause what (captcha document, 2.4 and 7.2). The tests of the captcha have all that the service can say with status 200.
 */
const verdicts: readonly CaptchaFault[] = [
  ...[401, 403, 404, 429, 500, 502, 302].flatMap((status): CaptchaFault[] => [
    [`a "fail" with ${status}`, answer(status, text(FAIL)), NO],
    [`a replay with ${status}`, answer(status, exception('-50003', 'illegal verify')), REPLAYED],
  ]),
  ...[401, 403, 404, 429, 302].map(
    (status): CaptchaFault => [`a pass with ${status}`, answer(status, text(PASS)), REFUSAL],
  ),
  [
    '500 as documented',
    answer(500, exception('-50000', 'runtime error')),
    { cause: 'SERVICE', code: '-50000', proceed: false },
  ],
  ['a pass with 500', answer(500, text(PASS)), NO_ANSWER],
  ['the error of an API', answer(503, '{"status":"error","code":503}'), { cause: 'SERVICE', proceed: false }],
  ['a "fail" and a pass in one object', ok(text(PASS).replace('{', '{"result":"fail",')), NO_ANSWER],
  ['a pass that is only in __proto__', ok(`{"__proto__":${text(PASS)}}`), NO_ANSWER],
  ['a "fail" beside 20,000 levels', ok(text(FAIL).replace('{', `{"new":${DEEP_OBJECTS},`)), NO_ANSWER],
  ['a "fail" under an empty content-encoding', answer(200, text(FAIL), { 'content-encoding': '' }), NO],
  ['a "fail" with 503 and a content-type of HTML', answer(503, text(FAIL), { 'content-type': 'text/html' }), NO],
  ['a "fail" with 503 after a byte order mark', answer(503, `\ufeff${text(FAIL)}`), NO],
  ['a "fail" with 503 that is cut off', thenClose(answer(503, text(FAIL), { 'content-length': '9999' })), NO],
  ['a "fail" with 503 and far too many blanks', answer(503, text(FAIL).padEnd(300_000)), NO],
  // This is not a fault: a byte order mark may be ignored (RFC 8259, 8.1).
  ['a byte order mark', ok(`\ufeff${text(PASS)}`), { __typename: 'CaptchaPassed' }],
];

export const CAPTCHA_FAULTS: readonly Row[] = verdicts.map(([fault, behave, captcha]) =>
  answers(fault, behave, { captcha }),
);
