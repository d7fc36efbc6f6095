import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startInSandboxMode, type TestApp } from '../support/app.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';

/** `deviceFingerprint` as a frontend sees it, against the sandbox. Section numbers are the fingerprint document's. */

let app: TestApp;
beforeAll(async () => {
  app = await startInSandboxMode();
});
afterAll(() => app.stop());

const fingerprint = async (variables: Record<string, unknown>) => ask(app.graphqlUrl, FINGERPRINT_QUERY, variables);

const UUID_V7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

describe('a judged device', () => {
  test.each([
    ['sandbox:android', 'ANDROID'],
    ['sandbox:ios', 'IOS'],
  ])('%s is Mobile, with every field', async (token, clientType) => {
    const { data, errors } = await fingerprint({ token });
    expect(errors).toBeUndefined();
    expect(data.deviceFingerprint).toEqual({
      __typename: 'DeviceFingerprint',
      publicKey: 'pk_sandbox_glb',
      requestId: expect.stringMatching(new RegExp(`^req_${UUID_V7}$`)),
      eventId: expect.stringMatching(new RegExp(`^evt_${UUID_V7}$`)),
      version: '1.0',
      clientType,
      device: { id: expect.stringMatching(/./) },
      deviceBasic: {
        __typename: 'Mobile',
        os: { name: expect.stringMatching(/./), version: expect.stringMatching(/./), additional: null },
        architecture: expect.stringMatching(/./),
        model: expect.stringMatching(/./),
      },
      ipInfo: { ip: expect.stringMatching(/./) },
      signals: [],
    });
  });

  test('sandbox:web is Web, with the further keys in `additional` (2.7)', async () => {
    const { data } = await fingerprint({ token: 'sandbox:web' });
    const { clientType, deviceBasic } = data.deviceFingerprint;
    expect(clientType).toBe('WEB_H5');
    expect(deviceBasic).toMatchObject({
      __typename: 'Web',
      browser: { name: expect.any(String), version: expect.any(String), major: expect.any(String) },
      os: { name: expect.any(String), version: expect.any(String) },
    });
    const additional = [deviceBasic.browser, deviceBasic.device, deviceBasic.os].map((part) => part.additional);
    expect(additional.filter((keys) => keys !== null).length).toBeGreaterThan(0);
    for (const keys of additional) expect(keys).not.toEqual({});
  });

  test('a second query has the same requestId and another eventId (section 4, rule 3)', async () => {
    const [first, second] = [
      await fingerprint({ token: 'sandbox:ios#1' }),
      await fingerprint({ token: 'sandbox:ios#1' }),
    ];
    expect(second.data.deviceFingerprint.requestId).toBe(first.data.deviceFingerprint.requestId);
    expect(second.data.deviceFingerprint.eventId).not.toBe(first.data.deviceFingerprint.eventId);
  });

  test.each(['pk_sandbox_glb', 'pk_sandbox_na', 'pk_sandbox_eu'])(
    'the application %s is asked in its own region',
    async (publicKey) => {
      const { data } = await fingerprint({ token: 'sandbox:web', publicKey });
      expect(data.deviceFingerprint).toMatchObject({ __typename: 'DeviceFingerprint', publicKey });
    },
  );
});

describe('a token that is rejected, or a query that fails', () => {
  test('an unknown token is data and not an error (section 7)', async () => {
    const { data, errors } = await fingerprint({ token: 'not-a-token' });
    expect(errors).toBeUndefined();
    expect(data.deviceFingerprint).toEqual({
      __typename: 'DeviceFingerprintRejected',
      reason: 'INVALID_TOKEN',
      errors: [{ field: 'token', reason: 'Invalid token', type: 'value_error' }],
    });
  });

  test('an empty token is rejected as well (section 8)', async () => {
    const { data } = await fingerprint({ token: '' });
    expect(data.deviceFingerprint).toMatchObject({ reason: 'INVALID_TOKEN', errors: [{ field: 'token' }] });
  });

  test.each([
    ['a disabled application', 'pk_sandbox_disabled'],
    ['an address that is not on the allow-list', 'pk_sandbox_allowlist'],
  ])('%s is our fault, and the client gets no details of it', async (_what, publicKey) => {
    const { data, errors, text } = await fingerprint({ token: 'sandbox:web', publicKey });
    expect(data).toEqual({ deviceFingerprint: null });
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_REJECTED', retryable: false } }]);
    expect(text).not.toContain('403');
    expect(app.logged()).toContain(`HTTP status 403 for application ${publicKey}`);
  });

  test('a server error of the service is UPSTREAM_UNAVAILABLE', async () => {
    const { data, errors } = await fingerprint({ token: 'sandbox:error:500' });
    expect(data).toEqual({ deviceFingerprint: null });
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } }]);
  });

  test('the log names the field as the schema does, and not by the alias of the client', async () => {
    const query = '{ phone491701234567: deviceFingerprint(token: "sandbox:error:500") { __typename } }';
    await ask(app.graphqlUrl, query);
    expect(app.logged()).toContain('"field":"deviceFingerprint"');
    expect(app.logged()).not.toContain('491701234567');
  });

  test('a response after the deadline is UPSTREAM_TIMEOUT', async () => {
    const impatient = await startInSandboxMode({ fingerprintTimeoutMs: 500 });
    const { errors } = await ask(impatient.graphqlUrl, FINGERPRINT_QUERY, { token: 'sandbox:delay:2000:android' });
    await impatient.stop();
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true } }]);
  });
});
