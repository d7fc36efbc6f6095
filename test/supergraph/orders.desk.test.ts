import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { post } from '../support/requests.ts';
import { GATEWAYS } from './gateways.ts';
import { orderInput, orderOutcome, sendOrder } from './orders-client.ts';
import { CLAIMED_SCOPE } from './people.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** What the order subgraph offers to analysts: each checkout with its judgement, and a new judgement if they ask for it. */

const supergraph = await startTestSupergraph();
afterAll(() => supergraph.stop());
const orders = supergraph.subgraphs['orders'] ?? '';
beforeEach(async () => {
  await supergraph.recover();
  supergraph.asked.length = 0;
});

const ANALYST = { ...CLAIMED_SCOPE, 'x-user-id': 'staff-grace' };
const CLEAN = 'sandbox:ios';
const EMULATOR = 'sandbox:android:EMULATOR';
const BLACKLISTED = 'sandbox:web:WHITELIST_IP';

/** How many events the fingerprint service has counted since the test began. */
const events = () => supergraph.asked.filter(({ url }) => url.includes('/fp_query/')).length;

const ask = (query: string, variables = {}, headers: Readonly<Record<string, string>> = ANALYST) =>
  post(orders, JSON.stringify({ query, variables }), headers);

const LIST = `query ($first: Int! = 50, $after: ID, $decision: CheckoutDecision) {
  checkouts(first: $first, after: $after, decision: $decision) {
    next
    items { id startedAt status refusal item judged customer { id } order { id } judgement { sealed } }
  }
}`;

async function list(variables = {}) {
  const { data, errors } = await ask(LIST, variables);
  if (errors) throw new Error(`expected no errors, but got ${JSON.stringify(errors)}`);
  return data.checkouts;
}

const newest = async () => (await list({ first: 1 })).items[0];

describe('a checkout', () => {
  test.each([
    ['of a clean device', { deviceToken: CLEAN }, { status: 'PLACED', refusal: null, judged: true }],
    ['of an emulator', { deviceToken: EMULATOR }, { status: 'CHALLENGED', refusal: null, order: null, judged: true }],
    [
      'of a blacklisted device',
      { deviceToken: BLACKLISTED },
      { status: 'REFUSED', refusal: 'UNDER_REVIEW', order: null },
    ],
    [
      'of something that is sold out',
      { deviceToken: CLEAN, item: 'Signed print' },
      { item: 'Signed print', status: 'REFUSED', refusal: 'SOLD_OUT', order: null },
    ],
    [
      'whose token cannot be judged',
      { deviceToken: 'made-up' },
      { status: 'CHALLENGED', judged: false, judgement: null, order: null },
    ],
  ])('%s is on the desk as soon as it is answered', async (_what, input, expected) => {
    const start = Date.now();
    await sendOrder(orders, orderInput(input));
    const found = await newest();
    expect(found).toMatchObject({ item: 'Vase', customer: { id: 'user-1' }, ...expected });
    expect(Date.parse(found.startedAt)).toBeGreaterThanOrEqual(start - 1);
  });

  test('that was challenged is one checkout still when the captcha was solved, and has its order', async () => {
    const input = orderInput({ deviceToken: EMULATOR });
    await orderOutcome(orders, input);
    const before = await newest();
    const { order } = await orderOutcome(orders, { ...input, attestation: await supergraph.signer.sign() });
    expect(await newest()).toEqual({ ...before, status: 'PLACED', order: { id: order?.id } });
  });

  test.each([CLEAN, EMULATOR, BLACKLISTED])(
    'of something that is sold out is not judged, so that nobody learns for nothing what is decided about %s',
    async (deviceToken) => {
      const input = orderInput({ deviceToken, item: 'Signed print' });
      for (const attestation of [null, await supergraph.signer.sign()]) {
        const outcome = await orderOutcome(orders, { ...input, attestation });
        expect(outcome).toEqual({ __typename: 'OrderRefused', code: 'SOLD_OUT' });
      }
      expect(await newest()).toMatchObject({ status: 'REFUSED', refusal: 'SOLD_OUT', judged: false });
      expect(events()).toBe(0);
      // What is ordered instead is judged, once.
      await orderOutcome(orders, { ...input, item: 'Vase' });
      expect(await newest()).toMatchObject({ item: 'Vase', judged: true });
      expect(events()).toBe(1);
    },
  );

  test('of which somebody only reads makes no event', async () => {
    await orderOutcome(orders, orderInput({ deviceToken: EMULATOR }));
    const { id } = await newest();
    expect(events()).toBe(1);
    const { data } = await ask('query ($id: ID!) { checkout(id: $id) { id judgement { sealed } } }', { id });
    expect(data.checkout).toEqual({ id, judgement: { sealed: expect.stringMatching(/^eyJ/) } });
    expect(events()).toBe(1);
  });

  test('that does not exist is null', async () => {
    const { data, errors } = await ask('{ checkout(id: "nothing") { id } judged: checkout(id: "") { id } }');
    expect([data, errors]).toEqual([{ checkout: null, judged: null }, undefined]);
  });
});

describe('pages', () => {
  test('have every checkout once, the newest first', async () => {
    const pages = [];
    for (let after = null, page = await list({ first: 20 }); ; page = await list({ first: 20, after })) {
      pages.push(page.items);
      after = page.next;
      if (after === null) break;
      expect(page.items).toHaveLength(20);
    }
    const all: { id: string; startedAt: string; order: { id: string } | null }[] = pages.flat();
    // The orders of a new shop are on the desk as well.
    expect(all.flatMap(({ order }) => order?.id ?? [])).toEqual(expect.arrayContaining(['order-1', 'bulk-49']));
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all.map(({ startedAt }) => startedAt)).toEqual(
      all
        .map(({ startedAt }) => startedAt)
        .sort()
        .reverse(),
    );
    expect(pages.length).toBe(Math.ceil(all.length / 20));
  });

  test('show one decision if that is asked for', async () => {
    for (const deviceToken of [CLEAN, EMULATOR, BLACKLISTED, 'made-up']) {
      await sendOrder(orders, orderInput({ deviceToken }));
    }
    const counted = await Promise.all(
      ['ALLOW', 'CHALLENGE', 'DENY', 'NOT_JUDGED'].map(
        async (decision) => (await list({ first: 100, decision })).items,
      ),
    );
    const all = (await list({ first: 100 })).items;
    expect(counted.flat()).toHaveLength(all.length);
    expect(counted.map(([first]) => first.id)).toEqual(
      all
        .slice(0, 4)
        .map(({ id }: { id: string }) => id)
        .reverse(),
    );
  });

  test.each([
    [{ first: 0 }, 'first: expected a number from 1 to 100.'],
    [{ first: 101 }, 'first: expected a number from 1 to 100.'],
    [{ first: -1 }, 'first: expected a number from 1 to 100.'],
    [{ after: '%' }, 'after: expected the `next` of another page.'],
    [{ after: '' }, 'after: expected the `next` of another page.'],
  ])('are bounded: %j is refused', async (variables, message) => {
    const { data, errors = [] } = await ask(LIST, variables);
    expect(data).toEqual({ checkouts: null });
    expect(errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT', retryable: false } }]);
  });
});

describe('without the scope risk:read', () => {
  const DEVICE = `{ _entities(representations: [{ __typename: "Device", id: "d" }]) {
    ... on Device { orders { id } checkouts { id } }
  } }`;
  const QUESTIONS = [
    ['the list', '{ checkouts { items { id } } }', { checkouts: null }],
    ['a checkout', '{ checkout(id: "x") { id } }', { checkout: null }],
    ['a new judgement', 'mutation { judgeAgain(id: "x") { id } }', { judgeAgain: null }],
    ['the judgement of an order', '{ order(id: "order-1") { judgement { sealed } } }', { order: { judgement: null } }],
    ['what else came from a device', DEVICE, { _entities: [null] }],
  ] as const;
  const CALLERS = [
    ['nobody', {}],
    ['support', { 'x-user-id': 'staff-ada', 'x-user-scopes': '' }],
    ['other scopes', { 'x-user-id': 'staff-ada', 'x-user-scopes': 'openid risk:readers' }],
    ['a header that was sent twice', { 'x-user-id': 'staff-ada', 'x-user-scopes': 'openid, risk:read' }],
  ] as const;

  test.each(
    QUESTIONS.flatMap((question) =>
      CALLERS.map(([who, headers]) => [question[0], who, question[1], question[2], headers] as const),
    ),
  )('%s is FORBIDDEN to %s', async (_what, _who, query, expected, headers) => {
    const { data, errors = [], text } = await ask(query, {}, headers);
    expect(data).toEqual(expected);
    expect(errors.map(({ extensions }) => extensions)).toEqual([{ code: 'FORBIDDEN', retryable: false }]);
    expect(text).not.toContain('eyJ');
    expect(supergraph.asked).toEqual([]);
  });
});

describe('asking anew', () => {
  const JUDGE_AGAIN = `mutation ($id: ID!) { judgeAgain(id: $id) {
    judgement { sealed } laterJudgements { askedAt askedBy judgement { sealed } }
  } }`;

  async function checkoutOf(deviceToken: string): Promise<{ id: string; judgement: { sealed: string } }> {
    await sendOrder(orders, orderInput({ deviceToken }));
    supergraph.asked.length = 0;
    return newest();
  }

  test('is one event, and its judgement stands beside the first one', async () => {
    const { id, judgement } = await checkoutOf(EMULATOR);
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

  test('about a token that can be used once brings TOKEN_EXPIRED, and the first judgement is as it was', async () => {
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
    ['nobody who is signed in', CLEAN, { 'x-user-id': '' }, 'UNAUTHENTICATED', false],
  ])('with %s gives no judgement, and an error says so', async (_what, token, headers, code, retryable) => {
    const { id } = await checkoutOf(token);
    const { data, errors, text } = await ask(JUDGE_AGAIN, { id }, { ...ANALYST, ...headers });
    expect(data).toEqual({ judgeAgain: null });
    expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code, retryable }]);
    expect(text).not.toContain(token);
    const { data: after } = await ask('query ($id: ID!) { checkout(id: $id) { laterJudgements { askedAt } } }', { id });
    expect(after.checkout.laterJudgements).toEqual([]);
  });

  test('is possible 20 times, also if analysts ask at the same moment', async () => {
    const { id } = await checkoutOf(CLEAN);
    const answers = await Promise.all(Array.from({ length: 22 }, () => ask(JUDGE_AGAIN, { id })));
    const refused = answers.flatMap(({ errors = [] }) => errors.map(({ extensions }) => extensions.code));
    expect(refused).toEqual(['JUDGEMENT_LIMIT', 'JUDGEMENT_LIMIT']);
    expect(events()).toBe(20);
  });
});

describe.each(GATEWAYS)('through %s', async (_name, startGateway) => {
  const gateway = await startGateway(supergraph.supergraphSdl);
  afterAll(() => gateway.stop());

  test('a page of 100 checkouts with everything about their judgements makes no call to the service', async () => {
    const missing = 100 - (await list({ first: 100 })).items.length;
    for (let made = 0; made < missing; made += 1) await orderOutcome(orders, orderInput({ deviceToken: CLEAN }));
    supergraph.asked.length = 0;
    const query = `{ checkouts(first: 100) { items { judgement {
      eventId signals { code } decision { action rule policy } device { id checkouts(first: 3) { id } }
    } } } }`;
    const { data, errors } = await post(gateway.url, JSON.stringify({ query }), ANALYST);
    expect(errors).toBeUndefined();
    const opened = data.checkouts.items.filter(({ judgement }: { judgement: object | null }) => judgement);
    expect(data.checkouts.items).toHaveLength(100);
    expect(opened.length).toBeGreaterThan(80);
    expect(supergraph.asked).toEqual([]);
  });
});
