import { answer, type Behaviour } from '../support/hostile.ts';
import { ANDROID, altered, DEEP_OBJECTS, errorEnvelope, nested, SIGNAL, spliced, WEB } from './documented.ts';
import { answers, type Row, type UpstreamCode } from './fault-table.ts';

/** An answer of the fingerprint service that is JSON, and what must become of it: an error, or at least this data. */
interface JsonFault {
  readonly fault: string;
  readonly behave: Behaviour;
  readonly expected: UpstreamCode | object;
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
