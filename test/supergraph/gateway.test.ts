import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ask } from '../support/requests.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';
import { GATEWAYS } from './gateways.ts';
import { CLAIMED_SCOPE } from './people.ts';
import { BULK_BUYER, FIFTY, startTestSupergraph } from './test-supergraph.ts';

/** What a client of the company's graph gets, through two gateways without any configuration for this subgraph. */

const supergraph = await startTestSupergraph();
afterAll(() => supergraph.stop());
beforeEach(async () => {
  await supergraph.recover();
  supergraph.asked.length = 0;
});

const SESSIONS_OF = `query ($user: ID!) {
  user(id: $user) { name sessions { id deviceFingerprint { requestId clientType } } }
}`;
const JUDGE = `query ($token: String!) {
  deviceFingerprint(token: $token) {
    __typename
    ... on DeviceFingerprint { clientType }
    ... on DeviceFingerprintRejected { reason errors { field reason type } }
  }
  me { name }
}`;
describe.each(GATEWAYS)('through %s', async (_name, startGateway) => {
  const gateway = await startGateway(supergraph.supergraphSdl);
  afterAll(() => gateway.stop());
  const query = (document: string, variables = {}) => ask(gateway.url, document, variables, CLAIMED_SCOPE);

  test('one question crosses all three subgraphs and comes back', async () => {
    const { data, errors, text } = await query(CROSS_SUBGRAPH_QUERY);
    expect(errors).toBeUndefined();
    expect(data.user.name).toBe('Ada');
    expect(data.user.orders[0]).toEqual({
      id: 'order-1',
      item: 'Kettle',
      judgement: {
        clientType: 'ANDROID',
        signals: [{ code: 'EMULATOR', level: 'HIGH', confidence: 0.95, effect: 'RISK' }],
        device: {
          orders: [
            { id: 'order-1', item: 'Kettle', customer: { name: 'Ada' } },
            { id: 'order-3', item: 'Gift card', customer: { name: 'Grace' } },
            { id: 'order-5', item: 'Gift card', customer: { name: 'Mallory' } },
          ],
        },
      },
    });
    expect(data.user.orders[1].judgement).toMatchObject({ clientType: 'IOS', signals: [] });
    expect(supergraph.asked).toEqual([]);
    expect(text).not.toContain('sandbox:');
  });

  test('fifty sign-ins from five devices are five upstream calls', async () => {
    const { data, errors } = await query(SESSIONS_OF, { user: BULK_BUYER });
    expect(errors).toBeUndefined();
    const analyses = data.user.sessions.map((session: Session) => session.deviceFingerprint?.requestId);
    expect(analyses).toHaveLength(FIFTY);
    expect(new Set(analyses).size).toBe(5);
    expect(supergraph.asked).toHaveLength(5);
  });

  test('the token is not part of the public graph', async () => {
    const { errors } = await query('{ me { sessions { deviceFingerprint { token } } } }');
    expect(errors?.[0]?.message).toContain('Cannot query field "token"');
    expect(supergraph.asked).toEqual([]);
  });

  test('references that cannot be judged are null with a code, and their neighbours whole', async () => {
    const { data, errors, text } = await query(SESSIONS_OF, { user: 'user-3' });
    expect(data.user).toEqual({
      name: 'Mallory',
      sessions: [
        {
          id: 'session-1',
          deviceFingerprint: { requestId: expect.stringMatching(/^req_/), clientType: 'ANDROID' },
        },
        { id: 'session-2', deviceFingerprint: null },
        { id: 'session-3', deviceFingerprint: null },
      ],
    });
    expect(codesBySession(errors)).toEqual({
      1: { code: 'DEVICE_TOKEN_REJECTED', retryable: false },
      2: { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    });
    expect(text).not.toContain('not-a-token');
  });

  test('a token that is asked about and rejected is data', async () => {
    const { data, errors } = await query(JUDGE, { token: 'not-a-token' });
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      deviceFingerprint: {
        __typename: 'DeviceFingerprintRejected',
        reason: 'INVALID_TOKEN',
        errors: [{ field: 'token', reason: 'Invalid token', type: 'value_error' }],
      },
      me: { name: 'Ada' },
    });
  });

  test('a dead upstream takes down its own fields alone', async () => {
    supergraph.outage.all = true;
    const asked = await query(JUDGE, { token: 'sandbox:ios' });
    expect(asked.data).toEqual({ deviceFingerprint: null, me: { name: 'Ada' } });
    expect(asked.errors).toMatchObject([
      { path: ['deviceFingerprint'], extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } },
    ]);

    const referred = await query(SESSIONS_OF, { user: 'user-1' });
    expect(referred.data.user.sessions).toEqual([
      { id: 'session-1', deviceFingerprint: null },
      { id: 'session-2', deviceFingerprint: null },
    ]);
    const lost = { code: 'UPSTREAM_UNAVAILABLE', retryable: true };
    expect(codesBySession(referred.errors)).toEqual({ 0: lost, 1: lost });
    expect(asked.text + referred.text).not.toMatch(/127\.0\.0\.1|ECONN|socket|sandbox:/);
  });
});

interface Session {
  readonly deviceFingerprint: { readonly requestId: string } | null;
}

/** The error of each session's fingerprint. The path of an error is longer with some gateways. */
function codesBySession(errors: Awaited<ReturnType<typeof ask>>['errors'] = []) {
  return Object.fromEntries(
    errors.map(({ path = [], extensions: { code, retryable } }) => {
      expect(path.slice(0, 4)).toEqual(['user', 'sessions', path[2], 'deviceFingerprint']);
      return [path[2], { code, retryable }];
    }),
  );
}
