import { afterAll, beforeEach, expect, test } from 'vitest';
import { post } from '../support/requests.ts';
import { GATEWAYS } from './gateways.ts';
import { orderInput, sendOrder } from './orders-client.ts';
import { CLAIMED_SCOPE } from './people.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** The mutation `judgeAgain`, with which an analyst asks for a new judgement of a checkout. */

const supergraph = await startTestSupergraph();
afterAll(() => supergraph.stop());
const orders = supergraph.subgraphs['orders'] ?? '';
beforeEach(() => supergraph.recover());

const ANALYST = { ...CLAIMED_SCOPE, 'x-user-id': 'staff-grace' };

/** How many events the fingerprint service has counted since the checkout. */
const events = () => supergraph.asked.filter(({ url }) => url.includes('/fp_query/')).length;

const ask = (query: string, variables = {}, headers: Readonly<Record<string, string>> = ANALYST) =>
  post(orders, JSON.stringify({ query, variables }), headers);

const JUDGE_AGAIN = `mutation ($id: ID!) { judgeAgain(id: $id) {
  judgement { sealed } laterJudgements { askedAt askedBy judgement { sealed } }
} }`;

async function checkoutOf(deviceToken: string): Promise<{ id: string; judgement: { sealed: string } }> {
  await sendOrder(orders, orderInput({ deviceToken }));
  supergraph.asked.length = 0;
  const { data } = await ask('{ checkouts(first: 1) { items { id judgement { sealed } } } }');
  return data.checkouts.items[0];
}

test('asking anew is one event, and its judgement stands beside the first one', async () => {
  const { id, judgement } = await checkoutOf('sandbox:android:EMULATOR');
  for (const times of [1, 2]) {
    const { data, errors } = await ask(JUDGE_AGAIN, { id });
    expect(errors).toBeUndefined();
    expect(data.judgeAgain.judgement).toEqual(judgement);
    expect(data.judgeAgain.laterJudgements).toHaveLength(times);
    expect(events()).toBe(times);
    const { askedAt, askedBy, judgement: later } = data.judgeAgain.laterJudgements.at(-1);
    expect(askedBy).toBe('staff-grace');
    expect(Date.now() - Date.parse(askedAt)).toBeLessThan(10_000);
    expect(later.sealed).toMatch(/^eyJ/);
    expect(later.sealed).not.toBe(judgement.sealed);
  }
});

test('asking anew about a token that can be used once brings TOKEN_EXPIRED, and the first judgement is as it was', async () => {
  const { id } = await checkoutOf(`sandbox:once:ios#${crypto.randomUUID()}`);
  const gateway = await GATEWAYS[1][1](supergraph.supergraphSdl);
  try {
    const fields = '{ eventType subject signals { code } decision { action rule } }';
    const query = `mutation ($id: ID!) { judgeAgain(id: $id) { judgement ${fields} laterJudgements { judgement ${fields} } } }`;
    const { data, errors } = await post(gateway.url, JSON.stringify({ query, variables: { id } }), ANALYST);
    expect(errors).toBeUndefined();
    expect(data.judgeAgain).toEqual({
      judgement: {
        eventType: 'checkout',
        subject: 'user-1',
        signals: [],
        decision: { action: 'ALLOW', rule: 'otherwise' },
      },
      laterJudgements: [
        {
          judgement: {
            eventType: 'review',
            subject: 'user-1',
            signals: [{ code: 'TOKEN_EXPIRED' }],
            decision: { action: 'CHALLENGE', rule: 'reused-token' },
          },
        },
      ],
    });
    expect(events()).toBe(1);
  } finally {
    await gateway.stop();
  }
});

test.each([
  ['a token that can never be judged', 'made-up', {}, 'DEVICE_TOKEN_REJECTED', false],
  ['a service that fails', 'sandbox:error:500', {}, 'JUDGEMENT_UNAVAILABLE', true],
  ['nobody who is signed in', 'sandbox:ios', { 'x-user-id': '' }, 'UNAUTHENTICATED', false],
])('asking anew with %s gives no judgement, and an error says so', async (_what, token, headers, code, retryable) => {
  const { id } = await checkoutOf(token);
  const { data, errors, text } = await ask(JUDGE_AGAIN, { id }, { ...ANALYST, ...headers });
  expect(data).toEqual({ judgeAgain: null });
  expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code, retryable }]);
  expect(text).not.toContain(token);
  const { data: after } = await ask('query ($id: ID!) { checkout(id: $id) { laterJudgements { askedAt } } }', { id });
  expect(after.checkout.laterJudgements).toEqual([]);
});

test('asking anew is possible 20 times, also if analysts ask at the same moment', async () => {
  const { id } = await checkoutOf('sandbox:ios');
  const answers = await Promise.all(Array.from({ length: 22 }, () => ask(JUDGE_AGAIN, { id })));
  const refused = answers.flatMap(({ errors = [] }) => errors.map(({ extensions }) => extensions.code));
  expect(refused).toEqual(['JUDGEMENT_LIMIT', 'JUDGEMENT_LIMIT']);
  expect(events()).toBe(20);
});
