import { afterAll, expect, test } from 'vitest';
import { DATA, startRecorded } from './support.ts';

/** How unusual responses of the service are read. Section numbers are the fingerprint document's. */

const { respondWith, rejectWith, query, stop } = await startRecorded();
afterAll(stop);

test('a signal that is not documented keeps its name, and the rest of the device stays usable', async () => {
  respondWith({ ...DATA, signals: [{ signal: 'BRAND_NEW', level: 'HIGH', confidence: 0.5 }] });
  const { data, errors } = await query({ token: 't' });
  expect(errors).toBeUndefined();
  expect(data.deviceFingerprint.signals).toEqual([
    { name: 'BRAND_NEW', code: null, level: 'HIGH', confidence: 0.5, effect: null, meaning: null },
  ]);
});

test('client_type decides between Mobile and Web, never the shape of device_basic (2.7)', async () => {
  const both = { os: {}, browser: {}, device: {}, pla: 'arm64', mod: 'Pixel 8', osv: '15' };
  respondWith({ ...DATA, detail: { ...DATA.detail, client_type: 'Web/H5', device_basic: both } });
  const web = await query({ token: 't' });
  expect(web.data.deviceFingerprint.deviceBasic.__typename).toBe('Web');
  respondWith({ ...DATA, detail: { ...DATA.detail, device_basic: { ...both, os: 'Android' } } });
  const mobile = await query({ token: 't2' });
  expect(mobile.data.deviceFingerprint.deviceBasic).toMatchObject({ __typename: 'Mobile', os: { name: 'Android' } });
  respondWith({ ...DATA, detail: { ...DATA.detail, device_basic: both } });
  const mismatch = await query({ token: 't3' });
  expect(mismatch.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_PROTOCOL_ERROR' } }]);
});

test('a web value that is not a string stays visible in `additional`', async () => {
  const device_basic = { browser: { name: 'Chrome', major: 120 }, device: { vendor: null }, os: { name: 'Linux' } };
  respondWith({ ...DATA, detail: { ...DATA.detail, client_type: 'Web/H5', device_basic } });
  const { data } = await query({ token: 't' });
  expect(data.deviceFingerprint.deviceBasic).toEqual({
    __typename: 'Web',
    browser: { name: 'Chrome', version: null, major: null, additional: { major: 120 } },
    device: { model: null, vendor: null, additional: { vendor: null } },
    os: { name: 'Linux', version: null, additional: null },
  });
});

test.each([
  ['event_time', 'eventTime'],
  ['event_type', 'eventType'],
  ['metadata.email', 'metadata.email'],
  ['metadata.ip_addr_v4', 'metadata.ipAddrV4'],
  ['phone_sha256', 'metadata.phoneSha256'],
  ['metadata', 'metadata'],
  ['body.metadata.email', 'metadata.email'],
  ['metadata.store_id', 'metadata.additional.store_id'],
  ['something_new', 'something_new'],
])('a field error for %s names our %s', async (field, ours) => {
  const errors = [{ field, reason: 'Some reason', type: 'some_type' }];
  rejectWith({ errors });
  const { data } = await query({ token: `t-${field}` });
  expect(data.deviceFingerprint).toEqual({
    __typename: 'DeviceFingerprintRejected',
    reason: 'INVALID_INPUT',
    errors: [{ field: ours, reason: 'Some reason', type: 'some_type' }],
  });
});

test.each(['device_token', 'body.device_token'])('a field error for %s names the token', async (field) => {
  const errors = [{ field, reason: 'Invalid token', type: 'value_error' }];
  rejectWith({ errors });
  const { data } = await query({ token: `t-${field}` });
  expect(data.deviceFingerprint).toMatchObject({ reason: 'INVALID_TOKEN', errors: [{ field: 'token' }] });
});

test('a 400 without details is a rejection as well (2.10)', async () => {
  rejectWith({});
  const { data } = await query({ token: 't' });
  expect(data.deviceFingerprint).toMatchObject({ reason: 'INVALID_INPUT', errors: [] });
});
