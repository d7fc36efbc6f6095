import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ask as post } from '../support/requests.ts';
import { ORDERS } from './orders/goods.ts';
import { ORDERS_AUDIENCE, startOrders } from './orders.ts';
import { orderAtOnce, orderInput, orderOutcome, sendOrder } from './orders-client.ts';
import { ISSUER } from './signer.ts';
import { ORDERS_SERVICE, SECRETS, subgraphHeaders } from './test-secrets.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** The order subgraph judges the device of each checkout once, stores what was judged, and shows it to people with the scope. */

const folder = mkdtempSync(join(tmpdir(), 'device-trust-judging-'));
const file = join(folder, 'orders.sqlite');
const supergraph = await startTestSupergraph({ ordersFile: file });
const url = supergraph.subgraphs.orders;
const deviceTrust = { url: supergraph.subgraphs['device-trust'], secret: ORDERS_SERVICE.secret };
const jwksUrl = new URL('/.well-known/jwks.json', deviceTrust.url).href;
/** Another replica, which has the same database. */
const replica = await startOrders({
  attestation: { jwksUrl, issuer: ISSUER, ...ORDERS_AUDIENCE },
  ...{ deviceTrust, secret: SECRETS.orders, file, seeds: ORDERS },
});
afterAll(async () => {
  await replica.stop();
  await supergraph.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  await supergraph.recover();
  supergraph.asked.length = 0;
});

const CLEAN = 'sandbox:ios';
const EMULATOR = 'sandbox:android:EMULATOR';
const BLACKLISTED = 'sandbox:web:WHITELIST_IP';
const CHALLENGE = { __typename: 'ChallengeRequired', reason: 'MISSING' };
const PLACED = { __typename: 'OrderPlaced' };
const UNDER_REVIEW = { __typename: 'OrderRefused', code: 'UNDER_REVIEW' };
const { events } = supergraph;
const attest = () => supergraph.signer.sign();

const ask = (query: string, variables = {}, scopes = 'risk:read') =>
  post(url, query, variables, subgraphHeaders('orders', { id: 'staff-grace', scopes }));
const LIST = `query ($first: Int! = 50) { checkouts(first: $first) {
  id startedAt item customer { id } status refusal order { id } captcha decision notJudged judgement { sealed }
} }`;
const list = async (variables = {}) => (await ask(LIST, variables)).data.checkouts;
const newest = async () => (await list({ first: 1 }))[0];

describe('a checkout', () => {
  const judged = { notJudged: null, judgement: { sealed: expect.stringMatching(/^eyJ[\w-]+(\.[\w-]+){4}$/) } };
  const notJudged = { decision: 'NOT_JUDGED', judgement: null };
  const open = { status: 'CHALLENGED', refusal: null, order: null, captcha: 'NOT_SOLVED' };
  const refused = { status: 'REFUSED', refusal: 'UNDER_REVIEW', order: null, captcha: null };
  test.each([
    ['of a clean device', CLEAN, 'Vase', { ...judged, status: 'PLACED', decision: 'ALLOW', captcha: null }],
    ['of an emulator', EMULATOR, 'Vase', { ...judged, ...open, decision: 'CHALLENGE' }],
    ['of a blacklist', BLACKLISTED, 'Vase', { ...judged, ...refused, decision: 'DENY' }],
    ['with a forged token', 'made-up', 'Vase', { ...notJudged, ...open, notJudged: 'TOKEN_REJECTED' }],
    ['in an outage', 'sandbox:error:500', 'Vase', { ...notJudged, ...open, notJudged: 'OUTAGE' }],
  ])('%s is among the checkouts as soon as it is answered', async (_what, deviceToken, item, expected) => {
    const start = Date.now();
    await orderOutcome(url, orderInput({ deviceToken, item }));
    const found = await newest();
    expect(found).toMatchObject({ item, customer: { id: 'user-1' }, ...expected });
    expect(Date.parse(found.startedAt)).toBeGreaterThanOrEqual(start - 1);
  });

  test('a checkout that was challenged is one checkout still when the captcha was solved, and has its order', async () => {
    const input = orderInput({ deviceToken: EMULATOR });
    await orderOutcome(url, input);
    const before = await newest();
    const database = new DatabaseSync(file);
    const stored = database.prepare('SELECT request_id FROM checkouts WHERE id = ?').get(before.id);
    database.close();
    expect(stored?.['request_id']).toMatch(/^[\da-f-]{36}$/);
    const { order } = await orderOutcome(url, { ...input, attestation: await attest() });
    expect(await newest()).toEqual({ ...before, status: 'PLACED', captcha: 'VERIFIED', order: { id: order?.id } });
  });

  test('a checkout is judged once, with the first token: retries with a cleaner one change nothing, also at another replica', async () => {
    const input = orderInput({ deviceToken: EMULATOR });
    for (const deviceToken of [EMULATOR, CLEAN]) {
      for (const at of [url, replica.url])
        expect(await orderOutcome(at, { ...input, deviceToken })).toMatchObject(CHALLENGE);
    }
    const attestation = await attest();
    expect(await orderOutcome(replica.url, { ...input, attestation })).toMatchObject(PLACED);
    expect(events()).toBe(1);
  });

  test('a checkout of a refused device stays refused with a captcha', async () => {
    const input = orderInput({ deviceToken: BLACKLISTED, attestation: await attest() });
    expect(await orderOutcome(url, input)).toEqual(UNDER_REVIEW);
  });

  test('20 first tries of a checkout at the same moment are one event, at two replicas as well', async () => {
    const input = orderInput({ deviceToken: 'sandbox:delay:200:ios' });
    const outcomes = await orderAtOnce(20, [url, replica.url], async () => input);
    expect(new Set(outcomes.map(({ order }) => order?.id))).toEqual(new Set([expect.stringMatching(/^order-/)]));
    expect(events()).toBe(1);
  });

  test.each([
    ['after a forged token', 'made-up', () => {}, 'TOKEN_REJECTED'],
    ['in an outage', CLEAN, () => Object.assign(supergraph.outage, { all: true }), 'OUTAGE'],
  ])('%s is of 50.00 at most, and an outage hides no forgery', async (_when, deviceToken, prepare, notJudged) => {
    prepare();
    const attestation = await supergraph.signer.sign({ assurance: notJudged === 'OUTAGE' ? 'unverified' : 'verified' });
    const input = orderInput({ deviceToken, attestation, item: 'Gift card' });
    expect(await orderOutcome(url, input)).toEqual({ __typename: 'OrderRefused', code: 'UNVERIFIED' });
    supergraph.outage.all = true;
    expect(await orderOutcome(url, input)).toEqual({ __typename: 'OrderRefused', code: 'UNVERIFIED' });
    expect(await newest()).toMatchObject({ notJudged, status: 'REFUSED', refusal: 'UNVERIFIED' });
    expect(await orderOutcome(url, orderInput({ deviceToken, attestation, item: 'Lamp' }))).toMatchObject(PLACED);
  });

  test('a checkout that needs a captcha is of 50.00 at most with one that was not verified in an outage', async () => {
    const attestation = await supergraph.signer.sign({ assurance: 'unverified' });
    const input = (item: string) => orderInput({ deviceToken: EMULATOR, attestation, item });
    expect(await orderOutcome(url, input('Desk'))).toEqual({ __typename: 'OrderRefused', code: 'UNVERIFIED' });
    expect(await orderOutcome(url, input('Lamp'))).toMatchObject(PLACED);
    expect(await newest()).toMatchObject({ status: 'PLACED', captcha: 'UNVERIFIED' });
  });

  test('a checkout keeps its item: with another one it is an error, and the record as it was', async () => {
    const input = orderInput({ deviceToken: BLACKLISTED, item: 'Desk' });
    await orderOutcome(url, input);
    const before = await newest();
    const { errors } = await sendOrder(url, { ...input, item: 'Pen' });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', retryable: false } }]);
    expect(await newest()).toEqual(before);
  });

  test('a checkout of something that is unknown makes no event', async () => {
    const refused = { __typename: 'OrderRefused', code: 'UNKNOWN_ITEM' };
    expect(await orderOutcome(url, orderInput({ deviceToken: CLEAN, item: 'Unicorn' }))).toEqual(refused);
    expect(events()).toBe(0);
  });
});

test('a checkout in an outage asks for a captcha, and once the outage is over the next try is judged', async () => {
  const input = orderInput({ deviceToken: CLEAN });
  supergraph.outage.all = true;
  expect(await orderOutcome(url, input)).toMatchObject(CHALLENGE);
  await supergraph.recover();
  expect(await orderOutcome(url, input)).toMatchObject(PLACED);
  expect(await newest()).toMatchObject({ decision: 'ALLOW', notJudged: null, captcha: 'NOT_SOLVED' });
});

const ENTITIES = 'query ($of: [_Any!]!) { _entities(representations: $of)';
test.each([
  ['the list', '{ checkouts { id } }', {}, { checkouts: null }],
  [
    'an order of somebody else',
    `${ENTITIES} { ... on Order { judgement { sealed } } } }`,
    { of: [{ __typename: 'Order', id: 'order-1' }] },
    { _entities: [null] },
  ],
  [
    'what else came from a device',
    `${ENTITIES} { ... on FingerprintDevice { orders { id } } } }`,
    { of: [{ __typename: 'FingerprintDevice', id: 'd' }] },
    { _entities: [null] },
  ],
])('the scope risk:read: without it %s is FORBIDDEN', async (_what, query, variables, expected) => {
  for (const scopes of ['', 'openid risk:readers', 'openid, risk:read']) {
    const { data, errors } = await ask(query, variables, scopes);
    expect(data).toEqual(expected);
    expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'FORBIDDEN', retryable: false }]);
  }
  expect((await ask(query, variables)).errors).toBeUndefined();
});

test('the database keeps no token, which is a credential', async () => {
  await orderOutcome(url, orderInput({ deviceToken: `${CLEAN}#canary` }));
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = ['checkouts', 'spent_attestations'].flatMap((table) => database.prepare(`SELECT * FROM ${table}`).all());
  database.close();
  expect(rows.length).toBeGreaterThan(10);
  expect(JSON.stringify(rows)).not.toContain('canary');
});
