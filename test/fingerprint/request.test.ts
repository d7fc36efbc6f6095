import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import metadataKeys from '../fixtures/metadata-keys.json' with { type: 'json' };
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { ask, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { type ReceivedRequest, sendJson, startUpstream } from '../support/upstream.ts';

/** What `deviceFingerprint` sends, and how unusual answers are read. Section numbers are the fingerprint document's. */

const DATA = {
  request_id: 'req_019a9b3e-0000-7000-8000-000000000001',
  event_id: 'evt_019a9b3e-0000-7000-8000-000000000002',
  fp_detail: { device_id: 'device-1', version: '1.0' },
  signals: [] as unknown[],
  detail: {
    client_type: 'Android',
    device_basic: { os: 'Android', pla: 'arm64', mod: 'Pixel 8', osv: '15' } as unknown,
    ip_info: { ip: '203.0.113.7' },
  },
};
const answerWith = (data: unknown) => (_request: ReceivedRequest, response: ServerResponse) =>
  sendJson(response, 200, { code: 200, message: 'Success', data });

let answer = answerWith(DATA);
const upstream = await startUpstream((request, response) => answer(request, response));
const app: TestApp = await startInLiveMode({ GLB: upstream.url, NA: upstream.url, EU: upstream.url });
afterAll(() => Promise.all([app.stop(), upstream.stop()]));
beforeEach(() => {
  upstream.received.length = 0;
  answer = answerWith(DATA);
});

const fingerprint = (variables: Record<string, unknown>) => ask(app.graphqlUrl, FINGERPRINT_QUERY, variables);
const sentBody = () => JSON.parse(upstream.received[0]?.body ?? 'nothing was sent');

describe('what is sent', () => {
  test('POST with the key in the path and the secret as bearer (sections 4 and 5)', async () => {
    await fingerprint({ token: 'some-token', publicKey: 'pk_sandbox_na' });
    expect(upstream.received).toMatchObject([
      {
        method: 'POST',
        url: '/api/v2/fp_query/pk_sandbox_na',
        headers: { authorization: 'Bearer sk_sandbox_na', 'content-type': 'application/json' },
        body: '{"device_token":"some-token"}',
      },
    ]);
    // A compressed body could outgrow its limit once inflated, so none is asked for.
    expect(upstream.received[0]?.headers).not.toHaveProperty('accept-encoding');
  });

  test('each documented metadata key under its own name (2.2)', async () => {
    const ours = Object.fromEntries(metadataKeys.map(({ graphql }) => [graphql, `value of ${graphql}`]));
    const wire = Object.fromEntries(metadataKeys.map(({ wire, graphql }) => [wire, `value of ${graphql}`]));
    await fingerprint({ token: 't', metadata: ours });
    expect(Object.keys(wire)).toHaveLength(16);
    expect(sentBody()).toEqual({ device_token: 't', metadata: wire });
  });

  test('further keys as they are, of any type (2.2)', async () => {
    const additional = { store: 7, nested: { b: [1, { z: null }], a: true } };
    await fingerprint({ token: 't', metadata: { accountId: 'a', additional } });
    expect(sentBody().metadata).toEqual({ account_id: 'a', ...additional });
  });

  test.each(['account_id', 'ip_addr_v4', 'ja3'])(
    'a documented key among the further ones is refused: %s',
    async (key) => {
      const { errors } = await fingerprint({ token: 't', metadata: { additional: { [key]: 'x' } } });
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(errors?.[0]?.message).toContain(key);
      expect(upstream.received).toEqual([]);
    },
  );

  test.each([
    ['null metadata', { metadata: null }],
    ['empty metadata', { metadata: {} }],
    ['metadata of nulls', { metadata: { email: null, additional: { store: null } } }],
    ['null event fields', { eventType: null, eventTime: null }],
  ])('%s is left out', async (_what, variables) => {
    await fingerprint({ token: 't', ...variables });
    expect(sentBody()).toEqual({ device_token: 't' });
  });

  test.each(['2026-02-28T23:59:59.123456789-00:30', '2026-03-01t09:30:00.5z', '2024-02-29T00:00:00+14:00'])(
    'the time goes as it was written: %s',
    async (eventTime) => {
      await fingerprint({ token: 't', eventTime });
      expect(sentBody()).toEqual({ device_token: 't', event_time: eventTime });
    },
  );

  test.each(['2026-03-01T09:30:00', '2026-02-30T09:30:00Z', '2026-03-01T24:00:00Z', 'yesterday'])(
    'a time that is none is refused without a call: %s',
    async (eventTime) => {
      const { errors } = await fingerprint({ token: 't', eventTime });
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', retryable: false } }]);
      expect(upstream.received).toEqual([]);
    },
  );

  test('eventType as it is (2.1)', async () => {
    await fingerprint({ token: 't', eventType: 'checkout ✓' });
    expect(sentBody()).toEqual({ device_token: 't', event_type: 'checkout ✓' });
  });

  test('an unknown application is refused without a call', async () => {
    const { errors } = await fingerprint({ token: 't', publicKey: 'pk_unknown' });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', retryable: false } }]);
    expect(upstream.received).toEqual([]);
  });
});

describe('how answers are read', () => {
  test('a signal newer than the contract keeps its name and spoils nothing', async () => {
    answer = answerWith({ ...DATA, signals: [{ signal: 'BRAND_NEW', level: 'HIGH', confidence: 0.5 }] });
    const { data, errors } = await fingerprint({ token: 't' });
    expect(errors).toBeUndefined();
    expect(data.deviceFingerprint.signals).toEqual([
      { name: 'BRAND_NEW', code: null, level: 'HIGH', confidence: 0.5, effect: null, meaning: null },
    ]);
  });

  test('client_type decides, never the shape of device_basic (2.7)', async () => {
    const both = { os: {}, browser: {}, device: {}, pla: 'arm64', mod: 'Pixel 8', osv: '15' };
    answer = answerWith({ ...DATA, detail: { ...DATA.detail, client_type: 'Web/H5', device_basic: both } });
    const web = await fingerprint({ token: 't' });
    expect(web.data.deviceFingerprint.deviceBasic.__typename).toBe('Web');
    answer = answerWith({ ...DATA, detail: { ...DATA.detail, device_basic: { ...both, os: 'Android' } } });
    const mobile = await fingerprint({ token: 't2' });
    expect(mobile.data.deviceFingerprint.deviceBasic).toMatchObject({ __typename: 'Mobile', os: { name: 'Android' } });
    answer = answerWith({ ...DATA, detail: { ...DATA.detail, device_basic: both } });
    const mismatch = await fingerprint({ token: 't3' });
    expect(mismatch.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_PROTOCOL_ERROR' } }]);
  });

  test('a web value that is no string stays visible in `additional`', async () => {
    const device_basic = { browser: { name: 'Chrome', major: 120 }, device: { vendor: null }, os: { name: 'Linux' } };
    answer = answerWith({ ...DATA, detail: { ...DATA.detail, client_type: 'Web/H5', device_basic } });
    const { data } = await fingerprint({ token: 't' });
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
  ])('field error %s is about our %s', async (field, ours) => {
    const errors = [{ field, reason: 'Some reason', type: 'some_type' }];
    answer = (_request, response) =>
      sendJson(response, 400, { code: 400, message: 'Invalid request', data: { errors } });
    const { data } = await fingerprint({ token: `t-${field}` });
    expect(data.deviceFingerprint).toEqual({
      __typename: 'DeviceFingerprintRejected',
      reason: 'INVALID_INPUT',
      errors: [{ field: ours, reason: 'Some reason', type: 'some_type' }],
    });
  });

  test.each(['device_token', 'body.device_token'])('field error %s is about the token', async (field) => {
    const errors = [{ field, reason: 'Invalid token', type: 'value_error' }];
    answer = (_request, response) =>
      sendJson(response, 400, { code: 400, message: 'Invalid request', data: { errors } });
    const { data } = await fingerprint({ token: `t-${field}` });
    expect(data.deviceFingerprint).toMatchObject({ reason: 'INVALID_TOKEN', errors: [{ field: 'token' }] });
  });

  test('a 400 without details is still a rejection (2.10)', async () => {
    answer = (_request, response) => sendJson(response, 400, { code: 400, message: 'Invalid request', data: {} });
    const { data } = await fingerprint({ token: 't' });
    expect(data.deviceFingerprint).toMatchObject({ reason: 'INVALID_INPUT', errors: [] });
  });
});
