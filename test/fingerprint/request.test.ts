import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { toBody } from '../../src/fingerprint/request.ts';
import metadataKeys from '../fixtures/metadata-keys.json' with { type: 'json' };
import { DATA, startRecorded } from './support.ts';

/** What `deviceFingerprint` sends. Section numbers are the fingerprint document's. */

const { received, respondWith, query, queryText, stop } = await startRecorded();
afterAll(stop);
beforeEach(() => {
  received.length = 0;
  respondWith(DATA);
});

const sentBody = () => JSON.parse(received[0]?.body ?? 'nothing was sent');

describe('the request', () => {
  test('the request is a POST with the public key in the path and the secret as bearer token (sections 4 and 5)', async () => {
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

  test('the request has each documented metadata key under the name of the document (2.2)', async () => {
    const ours = Object.fromEntries(metadataKeys.map(({ graphql }) => [graphql, `value of ${graphql}`]));
    const wire = Object.fromEntries(metadataKeys.map(({ wire, graphql }) => [wire, `value of ${graphql}`]));
    await query({ token: 't', metadata: ours });
    expect(sentBody()).toEqual({ device_token: 't', metadata: wire });
  });

  test.each(['account_id', 'ip_addr_v4', 'ja3'])(
    'the request is refused without a call with %s as an additional key',
    async (key) => {
      const { errors } = await query({ token: 't', metadata: { additional: { [key]: 'x' } } });
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(errors?.[0]?.message).toContain(key);
      expect(received).toEqual([]);
    },
  );

  /** Each argument with a text, and its name in an error. */
  const ARGUMENTS: readonly (readonly [argument: string, variables: (text: string) => Record<string, unknown>])[] = [
    ['token', (token) => ({ token })],
    ['eventType', (eventType) => ({ token: 't', eventType })],
    ...metadataKeys.map(
      ({ graphql }) =>
        [`metadata.${graphql}`, (text: string) => ({ token: 't', metadata: { [graphql]: text } })] as const,
    ),
    ['metadata.additional', (text) => ({ token: 't', metadata: { additional: { store: text } } })],
    ['metadata.additional', (text) => ({ token: 't', metadata: { additional: { store: [{ names: [text] }] } } })],
    ['metadata.additional', (text) => ({ token: 't', metadata: { additional: { [text]: 1 } } })],
    ['metadata.additional', (text) => ({ token: 't', metadata: { additional: { store: { [text]: 1 } } } })],
  ];

  test.each(ARGUMENTS)(
    'the request takes every text of 16 KiB in UTF-8 as %s, and one byte more is named',
    async (argument, variables) => {
      const longest = `\n\u0000é💳${'x'.repeat(16_384 - 8)}`;
      expect((await query(variables(longest))).errors).toBeUndefined();
      expect(received.splice(0)[0]?.body).toContain(JSON.stringify(longest).slice(1, -1));
      const { errors } = await query(variables(`${longest}x`));
      const message = `${argument}: expected a Unicode text of at most 16384 bytes in UTF-8, but got one of 16385.`;
      expect(errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT', retryable: false } }]);
      expect(received).toEqual([]);
    },
  );

  test.each(ARGUMENTS)(
    'the request is refused with half of a surrogate pair as %s, which is named',
    async (argument, variables) => {
      for (const half of ['\ud83d', 'a\udca9b']) {
        const { errors } = await query(variables(half));
        const message = `${argument}: expected a Unicode text of at most 16384 bytes in UTF-8, but got one with half of a surrogate pair.`;
        expect(errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
      }
      expect(received).toEqual([]);
    },
  );

  test.each([
    ['null metadata', { metadata: null }],
    ['empty metadata', { metadata: {} }],
    ['metadata of nulls', { metadata: { email: null, additional: null } }],
    ['null event fields', { eventType: null, eventTime: null }],
  ])('the request leaves out %s', async (_what, variables) => {
    await query({ token: 't', ...variables });
    expect(sentBody()).toEqual({ device_token: 't' });
  });

  test.each(['checkout 👩‍💻✓', '', ' ', 'check\nout', '\u0000\u0085\u2028'])(
    'the request has the eventType %j as it is (2.1)',
    async (text) => {
      await query({ token: 't', eventType: text });
      expect(sentBody()).toEqual({ device_token: 't', event_type: text });
    },
  );

  test('the request has empty texts, and nulls and names of additional keys, as they are (2.2)', async () => {
    const json = '{"":"","store":null,"constructor":1,"prototype":{"constructor":null},"__proto__":{"__proto__":[]}}';
    const variables = `{"token":"t","metadata":{"email":"","ja3":null,"additional":${json}}}`;
    expect((await queryText(variables)).errors).toBeUndefined();
    expect(received[0]?.body).toContain('"email":""');
    expect(Object.entries(sentBody().metadata)).toEqual(expect.arrayContaining(Object.entries(JSON.parse(json))));
    expect(Object.keys(sentBody().metadata)).toHaveLength(6);
    expect(Object.hasOwn(sentBody().metadata, '__proto__')).toBe(true);
  });

  test('the request with an empty token is rejected without a call, as the service would do (section 8)', async () => {
    const { data } = await query({ token: '' });
    // The text is our own. An upstream of the tests answers an empty token as it does a probe, and keeps no trace of it.
    const reason = 'expected a token of at least 1 character, but got none';
    expect(data.deviceFingerprint).toMatchObject({ reason: 'INVALID_TOKEN', errors: [{ field: 'token', reason }] });
  });
});

test('metadata keeps every value', () => {
  const json = fc.dictionary(
    fc.string({ minLength: 1 }).filter((key) => !['ja3', 'ja4', 'email'].includes(key)),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 6 },
  );
  fc.assert(
    fc.property(json, (additional) => {
      const sent = JSON.parse(toBody({ token: 't', metadata: { additional } })).metadata ?? {};
      expect(sent).toEqual(JSON.parse(JSON.stringify(additional)));
    }),
  );
});
