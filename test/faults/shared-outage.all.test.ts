import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { FailOpenBudget } from '../../src/captcha/fail-open-budget.ts';
import type { Requester } from '../../src/graphql/caller.ts';
import { openQuotaStore } from '../../src/upstream/quota-store.ts';
import { startRedis } from '../support/redis.ts';
import { ATTESTING, flood, proceeded, serves, TO_FIRST, unavailable, untilDown, verifyPeople } from './captchas.ts';
import { pause, startAgainst, startSwitchable, verify } from './support.ts';

/** An outage that two replicas share, through a real Redis or Valkey: connections move from one replica to the other. */

const [PEOPLE, MINIMUM, LONG] = [18, 10, 20_000];

async function start() {
  const redis = await startRedis();
  onTestFinished(redis.stop);
  const upstream = await startSwitchable(serves);
  onTestFinished(upstream.stop);
  const startReplica = async () => {
    const app = await startAgainst(upstream, LONG, { ...ATTESTING, quotaStoreUrl: redis.url });
    onTestFinished(app.stop);
    return app;
  };
  const apps = [await startReplica(), await startReplica()] as const;
  return { upstream, apps };
}

test('twice the passes of both may proceed at one of them, or at both together', async () => {
  const { upstream, apps } = await start();
  const [busy, idle] = apps;
  for (const app of apps) await verifyPeople(app, PEOPLE);
  // Within a second they are in the store.
  await pause(1_500);
  upstream.fail(unavailable);
  for (const app of apps) await untilDown(app, () => verify(app, TO_FIRST));
  const all = [
    ...(await flood(100, 5, () => verify(busy, TO_FIRST))),
    ...(await flood(50, 5, () => verify(idle, TO_FIRST))),
  ];
  // Those who asked until the outage was confirmed may have proceeded, too.
  const most = 2 * 2 * PEOPLE;
  expect(proceeded(all)).toBeLessThanOrEqual(most + MINIMUM);
  expect(proceeded(all)).toBeGreaterThan(most - 5);
  expect(proceeded(all.slice(0, 100))).toBeGreaterThan(most - 5);
});

const ANONYMOUS: Requester = { kind: 'anonymous', id: '' };

/** Two budgets with one store, as two replicas have them, and the store as an operator sees it. */
async function startBudgets() {
  const redis = await startRedis();
  onTestFinished(redis.stop);
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  const open = async () => {
    const metrics = { recordQuotaStore: () => {} };
    const options = { log: pino({ enabled: false }), metrics, eventLoop: { totalLagMs: () => 0 } };
    const store = await openQuotaStore(redis.url, options);
    onTestFinished(store.close);
    return new FailOpenBudget(store.counter);
  };
  return { redis, client, open, budgets: [await open(), await open()] as const };
}

/** How many of so many people without a name proceed, one after the other. */
async function take(budget: FailOpenBudget, count: number, requester = ANONYMOUS): Promise<number> {
  let taken = 0;
  for (let n = 0; n < count; n += 1) taken += Number(await budget.take('a', requester, 0));
  return taken;
}

test('the passes of one replica count at another within a second, exactly twice, and a store that loses them lowers nothing', async () => {
  const { client, budgets } = await startBudgets();
  const [one, other] = budgets;
  for (const count of [3, 2]) {
    for (let n = 0; n < count; n += 1) one.recordPass('a', ANONYMOUS, 0);
    await pause(1_200);
  }
  expect([await take(other, 8), await take(one, 8)]).toEqual([8, 2]);
  await client.flushall();
  expect(await take(other, 8)).toBe(2);
});

const [PASSED, PROCEEDED] = [
  'device-trust:outage:minutes:passed:a anonymous',
  'device-trust:outage:proceeded:a anonymous',
];

/** Lets so many seconds go by for the passes in the store, and the minute of those that have proceeded end. */
async function age(client: Redis, seconds: number): Promise<void> {
  const minutes = Object.entries(await client.hgetall(PASSED));
  expect(minutes).not.toEqual([]);
  await client.del(PASSED, PROCEEDED);
  await client.hset(PASSED, Object.fromEntries(minutes.map(([at, passes]) => [Number(at) - seconds, passes])));
}

test('a replica that served nobody has the budget of the busiest minute of the last hour, which an outage does not end', async () => {
  const { client, open, budgets } = await startBudgets();
  const pass = async (count: number, now: number) => {
    for (let n = 0; n < count; n += 1) budgets[0].recordPass('a', ANONYMOUS, now);
    await pause(1_200);
  };
  await pass(5, 0);
  await age(client, 60);
  await pass(3, 60_000);
  await age(client, 3_500);
  expect(await take(await open(), 20)).toBe(10);
  await age(client, 3_600);
  expect(await take(await open(), 20)).toBe(10);
  // The outage is over.
  await pass(2, 120_000);
  await age(client, 0);
  expect(await take(await open(), 20)).toBe(4);
});

test('while the store is away, each replica has the budget of its own passes', async () => {
  const { redis, budgets } = await startBudgets();
  const [one, other] = budgets;
  for (let n = 0; n < 5; n += 1) one.recordPass('a', ANONYMOUS, 0);
  expect([await take(one, 1), await take(other, 1)]).toEqual([1, 1]);
  await redis.kill();
  expect([await take(other, 20), await take(one, 20)]).toEqual([0, 9]);
});

test('whoever the store refuses takes nothing of what the replica lets proceed later', async () => {
  const { client, budgets } = await startBudgets();
  const [one, other] = budgets;
  for (let n = 0; n < 5; n += 1) one.recordPass('a', ANONYMOUS, 0);
  expect([await take(one, 10), await take(other, 20)]).toEqual([10, 0]);
  // The first ten captchas of a replica are there as before, and after a minute the store begins anew.
  expect(await take(other, 3, { kind: 'person', id: 'ada' })).toBe(3);
  await client.flushall();
  expect(await take(other, 20)).toBe(10);
});
