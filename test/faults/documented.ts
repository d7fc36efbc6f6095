import { DETAILS } from '../../src/captcha/contract.ts';

/** The good answers of both documents, from which the faults are made. No value has four digits in a row, so that no port occurs in one by chance. */

export const SIGNAL = { signal: 'EMULATOR', level: 'HIGH', confidence: 0.95 };

const COMMON = {
  request_id: 'req_one',
  event_id: 'evt_one',
  fp_detail: { device_id: 'device-one', version: '1.0' },
  signals: [SIGNAL],
};
const ip_info = { ip: '203.0.113.7' };

/** Fingerprint document, 2.3 to 2.8, for a phone. */
export const ANDROID = {
  code: 200,
  message: 'Success',
  data: {
    ...COMMON,
    detail: {
      client_type: 'Android',
      device_basic: { os: 'Android', pla: 'arm64', mod: 'Pixel 8', osv: '15' },
      ip_info,
    },
  },
};

/** The same for a browser, whose three objects are free-form (2.7). */
export const WEB = {
  code: 200,
  message: 'Success',
  data: {
    ...COMMON,
    detail: {
      client_type: 'Web/H5',
      device_basic: { browser: { name: 'Firefox' }, device: { vendor: 'Dell' }, os: { name: 'Linux' } },
      ip_info,
    },
  },
};

/** Fingerprint document, 2.10. */
export function errorEnvelope(code: number, message: string, data: unknown = {}): string {
  return JSON.stringify({ code, message, data });
}

export const LOT_NUMBER = 'lot-one';

/** What the service says about a solved challenge: each field that we read, those of 2.3 with these values. */
const examples = Object.values(DETAILS).map(({ name, example }): [string, string] => [name, example]);

/** Captcha document, 2.2 and 2.3. */
export const PASS = {
  status: 'success',
  result: 'success',
  reason: '',
  captcha_args: {
    ...Object.fromEntries(examples),
    used_type: 'slide',
    user_ip: '203.0.113.9',
    lot_number: LOT_NUMBER,
    scene: 'login',
    referer: 'https://shop.example/',
  },
};

export const FAIL = {
  status: 'success',
  result: 'fail',
  reason: 'pass_token expire',
  captcha_args: { used_type: 'slide', user_ip: '203.0.113.9', lot_number: LOT_NUMBER },
};

/** Captcha document, 7.2. */
export function exception(code: string, msg: string): string {
  return JSON.stringify({ status: 'error', code, msg, desc: { type: 'defined error' } });
}

export type Json = { [key: string]: Json } | Json[] | string | number | boolean | null;

/**
 * The answer with the value at a path such as `data.signals.0.level` replaced, or left out if there is no other. Throws if there is
 * no such value, or if it is the same.
 */
export function altered(answer: object, path: string, value?: Json): string {
  const copy: Record<string, unknown> = { ...structuredClone(answer) };
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  // Safe: the answers above are JSON, and a path that leaves them throws here.
  const parent = keys.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, copy);
  if (!(last in parent)) throw new Error(`expected a path of the answer, but got ${path}`);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  const json = JSON.stringify(copy);
  if (json === JSON.stringify(answer)) throw new Error(`expected another value than that of ${path}`);
  return json;
}

/** The answer with a piece of JSON text, which no JavaScript value may be able to stand for, at a path. */
export function spliced(answer: object, path: string, json: string): string {
  const mark = '@@@';
  return altered(answer, path, mark).replace(`"${mark}"`, () => json);
}

/** So many arrays as JSON, each within the other. */
export function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

/** 20,000 objects, each within the other. */
export const DEEP_OBJECTS = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;

/** The error page of a proxy in front of an upstream. Nothing of it may be passed on. */
export const PAGE = '<!doctype html><html><body><h1>page of the upstream</h1></body></html>';

/**
 * Headers with which an upstream says that it keeps the connection. Then an idle one stays open for 10 s, and not for half a
 * second, so that one which closes soon was closed on purpose.
 */
export const KEPT_OPEN = { 'keep-alive': 'timeout=60' };
