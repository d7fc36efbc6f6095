import { expect, onTestFinished, test } from 'vitest';
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
