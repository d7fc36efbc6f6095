import { afterAll, describe, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { ask } from '../support/requests.ts';
import { DATA, startRecorded } from './support.ts';

/** Signals as a frontend filters them, and how unusual responses are read. `schema/fixtures/` has every field. Section numbers are the
 * fingerprint document's. */

const app = await startInSandboxMode();
afterAll(app.stop);

describe('signals, by level and confidence', () => {
  const ALL = ['EMULATOR', 'IP_MALICIOUS_ATTACK', 'IP_CRAWLER_OR_BOT', 'DEVICE_WITHOUT_SIM'];
  const names = async (filter: string) => {
    const { data, errors } = await ask(
      app.graphqlUrl,
      `query ($token: String!) { deviceFingerprint(token: $token) { ... on DeviceFingerprint { signals${filter} { name } } } }`,
      { token: `sandbox:android:${ALL}` },
    );
    return errors ?? data.deviceFingerprint.signals.map(({ name }: { name: string }) => name);
  };

  // Levels and confidences from 2.9: HIGH 0.95, HIGH 0.6, MEDIUM 0.8, LOW 0.4.
  test.each([
    ['', ALL],
    ['(minLevel: LOW)', ALL],
    ['(minLevel: MEDIUM)', ALL.slice(0, 3)],
    ['(minLevel: HIGH)', ALL.slice(0, 2)],
    ['(minConfidence: 0.8)', ['EMULATOR', 'IP_CRAWLER_OR_BOT']],
    ['(minConfidence: 1)', []],
    ['(minLevel: HIGH, minConfidence: 0.61)', ['EMULATOR']],
    ['(minLevel: null, minConfidence: null)', ALL],
  ])('the filter %j of signals', async (filter, expected) => {
    expect(await names(filter)).toEqual(expected);
  });

  test('a confidence in percent is refused: an empty list would look like a device without signals', async () => {
    expect(await names('(minConfidence: 80)')).toMatchObject([
      {
        message: 'minConfidence: expected a number from 0 to 1, but got one outside.',
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
  });
});

describe('an unusual response', async () => {
  const { respondWith, rejectWith, query, stop } = await startRecorded();
  afterAll(stop);

  test('the client_type decides between Mobile and Web, never the shape of device_basic (2.7)', async () => {
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
    ['device_token', 'token'],
    ['body.device_token', 'token'],
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
      reason: ours === 'token' ? 'INVALID_TOKEN' : 'INVALID_INPUT',
      errors: [{ field: ours, reason: 'Some reason', type: 'some_type' }],
    });
  });
});
