import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { startInSandboxMode } from '../support/app.ts';
import { post } from '../support/requests.ts';
import type { Running } from './listen.ts';
import type { DeviceTrustConfig } from './orders/device-trust.ts';
import { ORDERS, type Seed } from './orders/goods.ts';
import { ORDERS_AUDIENCE, startOrders } from './orders.ts';
import { orderInput, orderOutcome } from './orders-client.ts';
import { CLAIMED_SCOPE } from './people.ts';
import { createSigner, ISSUER, startKeyServer } from './signer.ts';
import { ORDERS_SERVICE, ROUTER_SECRET, TRUSTED_HEADERS } from './subgraph-headers.ts';

/** How replicas of the order subgraph, which share a database, ask for one judgement of a checkout. */

const app = await startInSandboxMode({
  services: [ORDERS_SERVICE],
  routerSecrets: [ROUTER_SECRET],
  trustedHeaders: TRUSTED_HEADERS,
});
const signer = await createSigner();
const keyServer = await startKeyServer([signer.publicJwk]);
afterAll(() => Promise.all([app.stop(), keyServer.stop()]));

const deviceTrust = { url: app.graphqlUrl, secret: ORDERS_SERVICE.secret };
const CHALLENGE = { __typename: 'ChallengeRequired', reason: 'MISSING' };
const PLACED = { __typename: 'OrderPlaced' };

let folder: string;
let file: string;
const running: Running[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'device-trust-judging-'));
  file = join(folder, 'orders.sqlite');
});
afterEach(async () => {
  for (const { stop } of running.splice(0)) await stop();
  await rm(folder, { recursive: true });
});

async function startReplica(changes: Partial<DeviceTrustConfig> = {}, seeds: readonly Seed[] = []): Promise<string> {
  const attestation = { jwksUrl: keyServer.jwksUrl, issuer: ISSUER, ...ORDERS_AUDIENCE };
  const replica = await startOrders({ attestation, deviceTrust: { ...deviceTrust, ...changes }, file, seeds });
  running.push(replica);
  return replica.url;
}

/** How many events were made so far. */
async function events(): Promise<number> {
  const { samples } = await readMetrics(app);
  const calls = samples.filter(({ name }) => name === 'device_trust_fingerprint_calls_total');
  return calls.reduce((sum, { value }) => sum + value, 0);
}

test('first tries at two replicas at the same moment are one event, and the next try at either places the order', async () => {
  const before = await events();
  const urls = [await startReplica(), await startReplica()];
  const input = orderInput({ deviceToken: 'sandbox:delay:200:ios' });
  const outcomes = await Promise.all([...urls, ...urls].map((url) => orderOutcome(url, input)));
  // One replica waits for the judgement. The other does not know it yet, so it asks for a captcha.
  expect(outcomes.map(({ __typename }) => __typename).sort()).toEqual([
    ...['ChallengeRequired', 'ChallengeRequired', 'OrderPlaced', 'OrderPlaced'],
  ]);
  const again = await Promise.all(urls.map((url) => orderOutcome(url, input)));
  for (const outcome of again) expect(outcome).toMatchObject(PLACED);
  expect(new Set([...outcomes, ...again].flatMap(({ order }) => order?.id ?? [])).size).toBe(1);
  expect((await events()) - before).toBe(1);
});

test('a replica that starts later finds the judgement of a checkout', async () => {
  const input = orderInput();
  expect(await orderOutcome(await startReplica(), input)).toMatchObject(CHALLENGE);
  const before = await events();
  const attestation = await signer.sign();
  expect(await orderOutcome(await startReplica(), { ...input, attestation })).toMatchObject(PLACED);
  expect(await events()).toBe(before);
});

describe('a checkout about which a replica began to ask', () => {
  test.each([
    { when: 'a moment ago is left to that replica', ago: 0, outcome: CHALLENGE, made: 0 },
    {
      when: 'a minute ago is asked about again, because that replica has ended',
      ago: 60_000,
      outcome: PLACED,
      made: 1,
    },
  ])('$when', async ({ ago, outcome, made }) => {
    const url = await startReplica();
    const input = orderInput({ deviceToken: 'sandbox:ios' });
    const database = new DatabaseSync(file);
    database
      .prepare(`INSERT INTO checkouts (id, customer_id, checkout_id, item, started_at, asked_at)
        VALUES ('a-checkout', 'user-1', ?, 'Vase', ?, ?)`)
      .run(String(input['checkoutId']), Date.now(), Date.now() - ago);
    database.close();
    const before = await events();
    expect(await orderOutcome(url, input)).toMatchObject(outcome);
    expect((await events()) - before).toBe(made);
  });
});

describe('a clean device needs a captcha, with which it is ordered,', () => {
  test.each([
    ['while no judgement comes in time', { timeoutMs: 100 }, 'sandbox:delay:2000:ios'],
    ['while nothing answers', { url: 'http://127.0.0.1:9/graphql' }, 'sandbox:ios'],
    ['with a secret that is wrong', { secret: 'not-the-secret-of-this-service' }, 'sandbox:ios'],
    ['while the fingerprint service fails', {}, 'sandbox:error:500'],
  ])('%s', async (_when, changes, deviceToken) => {
    const url = await startReplica(changes);
    const input = orderInput({ deviceToken });
    const start = performance.now();
    expect(await orderOutcome(url, input)).toMatchObject(CHALLENGE);
    const attestation = await signer.sign();
    const { order } = await orderOutcome(url, { ...input, attestation });
    expect(performance.now() - start).toBeLessThan(1_900);
    const query = `{ order(id: "${order?.id}") { judgement { sealed } } }`;
    expect((await post(url, JSON.stringify({ query }), CLAIMED_SCOPE)).data).toEqual({ order: { judgement: null } });
  });
});

test('of two orders of the last item at the same moment one is placed, and the proof of the other is unspent', async () => {
  const url = await startReplica();
  const database = new DatabaseSync(file);
  database.exec("UPDATE items SET stock = 1 WHERE name = 'Signed print'");
  database.close();
  const tries = await Promise.all(
    // Both have to be judged first, and know of the last item by then.
    ['one', 'other'].map(async (name) => {
      const deviceToken = `sandbox:delay:200:android:EMULATOR#${name}`;
      return orderInput({ item: 'Signed print', deviceToken, attestation: await signer.sign() });
    }),
  );
  const outcomes = await Promise.all(tries.map((input) => orderOutcome(url, input)));
  expect(outcomes.map(({ __typename, code }) => code ?? __typename).sort()).toEqual(['OrderPlaced', 'SOLD_OUT']);
  const { attestation } = tries[outcomes.findIndex(({ code }) => code === 'SOLD_OUT')] ?? {};
  expect(await orderOutcome(url, orderInput({ attestation }))).toMatchObject(PLACED);
});

test('the orders of a new shop are judged when it opens first, and not again', async () => {
  const seeds = ORDERS.slice(0, 3);
  const before = await events();
  const look = JSON.stringify({ query: '{ order(id: "order-1") { judgement { sealed } } }' });
  const first = await post(await startReplica({}, seeds), look, CLAIMED_SCOPE);
  expect(first.data.order.judgement.sealed).toMatch(/^eyJ/);
  expect((await post(await startReplica({}, seeds), look, CLAIMED_SCOPE)).data).toEqual(first.data);
  expect((await events()) - before).toBe(3);
});

test('the database keeps the sealed text, and the token for analysts who ask again in one place', async () => {
  const url = await startReplica();
  await orderOutcome(url, orderInput({ deviceToken: 'sandbox:ios#canary' }));
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = ['orders', 'checkouts'].flatMap((table) => database.prepare(`SELECT * FROM ${table}`).all());
  database.close();
  expect(rows).toHaveLength(2);
  for (const { sealed } of rows) expect(sealed).toMatch(/^eyJ[\w-]+(\.[\w-]+){4}$/);
  const withToken = rows.flatMap((row) => Object.keys(row).filter((name) => String(row[name]).includes('canary')));
  expect(withToken).toEqual(['device_token']);
});
