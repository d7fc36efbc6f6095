import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { toBody } from '../../src/fingerprint/request.ts';
import metadataKeys from '../fixtures/metadata-keys.json' with { type: 'json' };
import { DATA, startRecorded } from './support.ts';

/** What `deviceFingerprint` sends. Section numbers are the fingerprint document's. */

const { received, respondWith, query, stop } = await startRecorded();
afterAll(stop);
beforeEach(() => {
  received.length = 0;
  respondWith(DATA);
});

const sentBody = () => JSON.parse(received[0]?.body ?? 'nothing was sent');

describe('the request', () => {
  test('is a POST with the public key in the path and the secret as bearer token (sections 4 and 5)', async () => {
    await query({ token: 'some-token', publicKey: 'pk_sandbox_na' });
    expect(received).toMatchObject([
      {
        method: 'POST',
        url: '/api/v2/fp_query/pk_sandbox_na',
        headers: { authorization: 'Bearer sk_sandbox_na', 'content-type': 'application/json' },
        body: '{"device_token":"some-token"}',
      },
    ]);
    // A small compressed body can inflate beyond the size limit.
    expect(received[0]?.headers).toHaveProperty('accept-encoding', 'identity');
  });

  test('has each documented metadata key under the name of the document (2.2)', async () => {
    const ours = Object.fromEntries(metadataKeys.map(({ graphql }) => [graphql, `value of ${graphql}`]));
    const wire = Object.fromEntries(metadataKeys.map(({ wire, graphql }) => [wire, `value of ${graphql}`]));
    await query({ token: 't', metadata: ours });
    expect(Object.keys(wire)).toHaveLength(16);
    expect(sentBody()).toEqual({ device_token: 't', metadata: wire });
  });

  const NO_NAME = 'eventType: expected a text of 1 to 256 printable characters, but got another text.';
  test.each([
    ...['account_id', 'ip_addr_v4', 'ja3'].map((key) => [{ metadata: { additional: { [key]: 'x' } } }, key] as const),
    ...['check\nout', '\r', '\u0000', '\u0085', '\u2028', 'e'.repeat(257)].map(
      (eventType) => [{ eventType }, NO_NAME] as const,
    ),
  ])('is refused without a call with %j', async (variables, message) => {
    const { errors } = await query({ token: 't', ...variables });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(errors?.[0]?.message).toContain(message);
    expect(received).toEqual([]);
  });

  test.each([
    ['null metadata', { metadata: null }],
    ['empty metadata', { metadata: {} }],
    ['metadata of nulls', { metadata: { email: null, additional: { store: null } } }],
    ['null event fields', { eventType: null, eventTime: null }],
    ['an empty event type', { eventType: '' }],
  ])('leaves out %s', async (_what, variables) => {
    await query({ token: 't', ...variables });
    expect(sentBody()).toEqual({ device_token: 't' });
  });

  test('has eventType as it is (2.1)', async () => {
    await query({ token: 't', eventType: 'checkout 👩‍💻✓' });
    expect(sentBody()).toEqual({ device_token: 't', event_type: 'checkout 👩‍💻✓' });
  });

  test('with an empty token is rejected without a call, as the service would do (section 8)', async () => {
    const { data } = await query({ token: '' });
    // The text is our own. An upstream of the tests answers an empty token as it does a probe, and keeps no trace of it.
    const reason = 'expected a token of at least 1 character, but got none';
    expect(data.deviceFingerprint).toMatchObject({ reason: 'INVALID_TOKEN', errors: [{ field: 'token', reason }] });
  });
});

test('metadata keeps every value', () => {
  const json = fc.dictionary(
    fc.string({ minLength: 1 }).filter((key) => key !== '__proto__' && !['ja3', 'ja4', 'email'].includes(key)),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 6 },
  );
  fc.assert(
    fc.property(json, (additional) => {
      const sent = JSON.parse(toBody({ token: 't', metadata: { additional } })).metadata ?? {};
      const notNull = Object.fromEntries(Object.entries(additional).filter(([, value]) => value !== null));
      expect(sent).toEqual(JSON.parse(JSON.stringify(notNull)));
    }),
  );
});
