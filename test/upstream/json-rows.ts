import { answer, type Behaviour } from '../support/hostile.ts';
import {
  ANDROID,
  altered,
  DEEP_ARRAYS,
  DEEP_OBJECTS,
  errorEnvelope,
  exception,
  FAIL,
  PASS,
  SIGNAL,
  spliced,
  WEB,
} from './documented.ts';
import type { UpstreamCode } from './expectations.ts';

/** An answer that is JSON, and what must become of it: an error, or data that holds at least this. */
export interface JsonRow {
  readonly name: string;
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
const shape: readonly JsonRow[] = [
  ...[...EVERYWHERE, ...PHONE].flatMap((path): JsonRow[] => [
    { name: `no ${path}`, behave: ok(altered(ANDROID, path)), expected: PROTOCOL },
    { name: `${path} is null`, behave: ok(altered(ANDROID, path, null)), expected: PROTOCOL },
  ]),
  ...BROWSER.flatMap((path): JsonRow[] => [
    { name: `browser without ${path}`, behave: ok(altered(WEB, path)), expected: PROTOCOL },
    { name: `browser where ${path} is text`, behave: ok(altered(WEB, path, 'text')), expected: PROTOCOL },
  ]),
  ...([1.5, -0.1, '1', true] as const).map(
    (value): JsonRow => ({
      name: `confidence ${JSON.stringify(value)}`,
      behave: ok(altered(ANDROID, 'data.signals.0.confidence', value)),
      expected: PROTOCOL,
    }),
  ),
  {
    name: 'confidence beyond all numbers',
    behave: ok(spliced(ANDROID, 'data.signals.0.confidence', '1e999')),
    expected: PROTOCOL,
  },
  ...['EXTREME', 'high', ''].map(
    (level): JsonRow => ({
      name: `level "${level}"`,
      behave: ok(altered(ANDROID, 'data.signals.0.level', level)),
      expected: PROTOCOL,
    }),
  ),
  ...['Windows', 'android', 'Web'].map(
    (type): JsonRow => ({
      name: `client_type "${type}"`,
      behave: ok(altered(ANDROID, 'data.detail.client_type', type)),
      expected: PROTOCOL,
    }),
  ),
  {
    name: 'a signal that no catalogue has',
    behave: ok(altered(ANDROID, 'data.signals', [{ ...SIGNAL, signal: 'BRAND_NEW' }, SIGNAL])),
    expected: {
      signals: [
        { name: 'BRAND_NEW', code: null, effect: null, meaning: null, level: 'HIGH' },
        { name: 'EMULATOR', code: 'EMULATOR' },
      ],
    },
  },
  {
    name: 'a signal named like a member of every object',
    behave: ok(altered(ANDROID, 'data.signals.0.signal', 'constructor')),
    expected: { signals: [{ name: 'constructor', code: null }] },
  },
];

/** Fingerprint document, section 4, rule 1, and section 7. */
const envelopes: readonly JsonRow[] = [
  {
    name: '500 as documented',
    behave: answer(500, errorEnvelope(500, 'Internal server error')),
    expected: 'UPSTREAM_UNAVAILABLE',
  },
  { name: '401 as documented', behave: answer(401, errorEnvelope(401, 'Invalid bearer token')), expected: REJECTED },
  { name: '403 as documented', behave: answer(403, errorEnvelope(403, 'Forbidden')), expected: REJECTED },
  { name: '404 as documented', behave: answer(404, errorEnvelope(404, 'integration not found')), expected: REJECTED },
  { name: '200 with code 500', behave: ok(errorEnvelope(500, 'Internal server error')), expected: PROTOCOL },
  { name: '200 with all but the code', behave: ok(altered(ANDROID, 'code', 201)), expected: PROTOCOL },
  { name: '200 with a code that is text', behave: ok(altered(ANDROID, 'code', '200')), expected: PROTOCOL },
  { name: '500 with code 200', behave: answer(500, JSON.stringify(ANDROID)), expected: PROTOCOL },
  { name: '401 with code 403', behave: answer(401, errorEnvelope(403, 'Forbidden')), expected: PROTOCOL },
  { name: '400 with code 200', behave: answer(400, JSON.stringify(ANDROID)), expected: PROTOCOL },
];

/** Design, section 2: "`__proto__` and friends stripped from free-form objects". */
const objects: readonly JsonRow[] = [
  ...['__proto__', '\\u005f_proto__', 'constructor'].map(
    (key): JsonRow => ({
      name: `${key} in a free-form object`,
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
    name: 'an answer that is only in __proto__',
    behave: ok(`{"code":200,"message":"Success","__proto__":{"data":${JSON.stringify(ANDROID.data)}}}`),
    expected: PROTOCOL,
  },
  ...[DEEP_OBJECTS, DEEP_ARRAYS, DEEP_OBJECTS.replace('1', '{"__proto__":1}')].map(
    (json, index): JsonRow => ({
      name: `20,000 levels in a free-form object, kind ${index + 1}`,
      behave: ok(spliced(WEB, ADDITIONAL, `{"name":"F","deep":${json}}`)),
      expected: PROTOCOL,
    }),
  ),
  {
    name: '20,000 levels in a field that nobody reads',
    behave: ok(JSON.stringify(ANDROID).replace('"data":{', `"data":{"new":${DEEP_OBJECTS},`)),
    expected: { clientType: 'ANDROID' },
  },
];

export const FINGERPRINT_ROWS: readonly JsonRow[] = [...shape, ...envelopes, ...objects];

const TRANSPORT = { __typename: 'CaptchaIndeterminate', cause: 'TRANSPORT', proceed: true };
const PROVOKED = { ...TRANSPORT, cause: 'CLIENT', proceed: false };
const NO = { __typename: 'CaptchaFailed', proceed: false, category: 'PASS_TOKEN_EXPIRED' };
const REPLAYED = { __typename: 'CaptchaIndeterminate', cause: 'CLIENT', code: '-50003', proceed: false };
const replayed = exception('-50003', 'illegal verify');

/** Design, section 2: what passes, who can cause which exception, and the policy `faults`. */
export const CAPTCHA_ROWS: readonly JsonRow[] = [
  ...[401, 403, 404, 429, 500, 502, 302].flatMap((status): JsonRow[] => [
    {
      name: `a pass with ${status}`,
      behave: answer(status, JSON.stringify(PASS)),
      expected: status >= 400 && status < 500 ? PROVOKED : TRANSPORT,
    },
    { name: `a "fail" with ${status}`, behave: answer(status, JSON.stringify(FAIL)), expected: NO },
    { name: `a replay with ${status}`, behave: answer(status, replayed), expected: REPLAYED },
  ]),
  {
    name: '500 as documented',
    behave: answer(500, exception('-50000', 'runtime error')),
    expected: { ...TRANSPORT, cause: 'SERVICE', code: '-50000' },
  },
  ...['status', 'result', 'captcha_args', 'captcha_args.lot_number', 'captcha_args.user_ip'].map(
    (path): JsonRow => ({
      name: `a pass without ${path}`,
      behave: ok(altered(PASS, path)),
      expected: TRANSPORT,
    }),
  ),
  {
    name: 'a pass for another lot number',
    behave: ok(altered(PASS, 'captcha_args.lot_number', 'lot-two')),
    expected: { proceed: false },
  },
  { name: 'a pass that is true', behave: ok(altered(PASS, 'result', true)), expected: TRANSPORT },
  {
    name: 'a pass that is only in __proto__',
    behave: ok(`{"__proto__":${JSON.stringify(PASS)}}`),
    expected: TRANSPORT,
  },
  { name: 'a "fail" without details', behave: ok(altered(FAIL, 'captcha_args')), expected: NO },
  {
    name: 'a "fail" beside 20,000 levels',
    behave: ok(JSON.stringify(FAIL).replace('{', `{"new":${DEEP_OBJECTS},`)),
    expected: NO,
  },
];
