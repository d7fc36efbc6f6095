import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ask, type GraphqlAnswer } from '../support/requests.ts';
import { composeShopVariant } from './compose.ts';
import { CLAIMED_SCOPE, type Gateway } from './test-gateways.ts';
import { SECRETS } from './test-secrets.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** What clients of the company's graph get: staff of the whole graph, and the shop's page of the one without `risk`. */

const supergraph = await startTestSupergraph();
const shopVariant = await composeShopVariant(supergraph.subgraphs, SECRETS);
afterAll(() => supergraph.stop());
beforeEach(async () => {
  await supergraph.recover();
  supergraph.asked.length = 0;
  supergraph.done.length = 0;
});

const SESSIONS_OF = `query ($user: ID!) {
  user(id: $user) { name sessions { id deviceFingerprint { requestId clientType } } }
}`;
/** The error of each session's fingerprint. The path of an error is longer with some gateways. */
function errorsBySession(errors: GraphqlAnswer['errors'] = []) {
  return Object.fromEntries(
    errors.map(({ path = [], extensions }) => {
      expect(path.slice(0, 4)).toEqual(['user', 'sessions', path[2], 'deviceFingerprint']);
      return [path[2], extensions];
    }),
  );
}

/** What holds through one gateway has to hold through the others. */
export function describeGateways(gateways: readonly Gateway[]): void {
  describe.each(gateways)('through %s', async (gatewayName, startGateway) => {
    const gateway = await startGateway(supergraph.supergraphSdl);
    const shop = await startGateway(shopVariant);
    afterAll(() => Promise.all([gateway.stop(), shop.stop()]));
    const query = (document: string, variables = {}) => ask(gateway.url, document, variables, CLAIMED_SCOPE);

    test('references that cannot be judged are null with a code, and their neighbours whole', async () => {
      const { data, errors, text } = await query(SESSIONS_OF, { user: 'user-3' });
      const judged = { requestId: expect.stringMatching(/^req_/), clientType: 'ANDROID' };
      expect(data.user).toEqual({
        name: 'Mallory',
        sessions: [
          { id: 'session-1', deviceFingerprint: judged },
          { id: 'session-2', deviceFingerprint: null },
          { id: 'session-3', deviceFingerprint: null },
        ],
      });
      expect(errorsBySession(errors)).toEqual({
        1: { code: 'DEVICE_TOKEN_REJECTED', retryable: false },
        2: { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
      });
      expect(text).not.toContain('not-a-token');
    });

    // Hive Gateway's runtime for Node asks for the device once more before it goes on to another subgraph. That is an event of
    // its own, so schema/README.md says how to avoid it.
    test.each([
      ['id', 1],
      ['id orders { id }', gatewayName === 'Hive Gateway' ? 2 : 1],
    ])('a fresh judgement with the device { %s } makes %d events', async (device, events) => {
      const { errors } = await query(`{ deviceFingerprint(token: "sandbox:ios") {
      ... on DeviceFingerprint { judgement { eventId device { ${device} } } }
    } }`);
      expect(errors).toBeUndefined();
      expect(supergraph.events()).toBe(events);
    });

    test('one fragment on `DeviceAssessment` reads a fresh judgement and a stored one', async () => {
      const { data, errors } = await query(`{
        user(id: "user-1") { orders { judgement { ...Assessed } } }
        deviceFingerprint(token: "sandbox:android:EMULATOR@emulator") { ...Assessed ... on DeviceFingerprintRejected { reason } }
      }
      fragment Assessed on DeviceAssessment {
        __typename version clientType device { id } ipInfo { ip } decision { action } signals(minLevel: HIGH) { code }
        deviceBasic { ... on Mobile { os { name } } }
      }`);
      expect(errors).toBeUndefined();
      const { __typename, ...stored } = data.user.orders[0].judgement;
      expect(__typename).toBe('DeviceJudgement');
      expect(stored).toMatchObject({
        clientType: 'ANDROID',
        signals: [{ code: 'EMULATOR' }],
        decision: { action: 'CHALLENGE' },
      });
      expect(data.deviceFingerprint).toEqual({ __typename: 'DeviceFingerprint', ...stored });
    });

    test.each([
      'user(id: "user-2") { name }',
      'me { orders { judgement { sealed } } }',
      'checkouts { id }',
      'deviceFingerprint(token: "sandbox:web") { ... on DeviceFingerprint { clientType decision { action } } }',
    ])('a page cannot ask the shop for { %s }', async (field) => {
      const events = supergraph.events();
      const { data, errors } = await ask(shop.url, `{ ${field} }`, {}, CLAIMED_SCOPE);
      expect(data ?? null).toBeNull();
      expect(errors?.[0]?.message).toMatch(/^Cannot query field "(user|judgement|checkouts|decision)"/);
      expect(supergraph.events()).toBe(events);
    });
  });
}
