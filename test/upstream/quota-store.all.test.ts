import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/settings/variables.ts';
import { createQuota } from '../../src/upstream/quota.ts';
import { openQuotaStore } from '../../src/upstream/quota-store.ts';
import { ANDROID, PASS } from '../faults/documented.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, queryForTokens } from '../support/graphql.ts';
import { freePort } from '../support/ports.ts';
import { probeAnswer } from '../support/probes.ts';
import { startRedis } from '../support/redis.ts';
import { ask } from '../support/requests.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { times } from '../support/times.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** Quotas that all replicas share, with a real Redis or Valkey. */

const AWAY = 'quota store unavailable; counting per process';
const BACK = 'the quota store counts again';

/** A store, an upstream, and two replicas of the app with the same configuration. */
async function start(overrides: Partial<Config>, settings: Readonly<Record<string, string>> = {}) {
  const redis = await startRedis(settings);
  onTestFinished(redis.stop);
  const upstream = await startUpstream(({ url }, response) =>
    sendJson(response, 200, url.startsWith('/validate') ? PASS : ANDROID),
  );
  onTestFinished(upstream.stop);
  const startReplica = async () => {
    const app = await startInLiveMode(upstream.url, { quotaStoreUrl: redis.url, ...overrides });
    onTestFinished(app.stop);
    return app;
  };
  const apps = [await startReplica(), await startReplica()] as const;
  return { redis, apps, received: () => upstream.received.length };
}

/** Asks about so many tokens in one operation, and counts the codes of what came back. */
async function judge(app: TestApp, count: number): Promise<Record<string, number>> {
  const { errors = [] } = await ask(app.graphqlUrl, queryForTokens(times(count, String)));
  const codes: Record<string, number> = { ok: count - errors.length };
  for (const { extensions } of errors) codes[extensions.code] = (codes[extensions.code] ?? 0) + 1;
  return codes;
}

const KEY = 'device-trust:fingerprint:day:pk_sandbox_glb';
const PROBE_KEY = 'device-trust:probe';
const ROUTER = { caller: 'router', isService: false };
/** Reads the store as an operator would. */
function clientOf({ url }: { readonly url: string }): Redis {
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  return client;
}

const countOf = (log: string, sentence: string) => log.split(sentence).length - 1;
const storeAway = async (app: TestApp) => (await readMetrics(app)).value('device_trust_quota_store_away');

/**
 * Does this once more if the store was away meanwhile: it is if this process keeps it waiting for 50 ms, as on a busy machine, and
 * then the replicas count alone.
 */
async function undisturbed<Seen extends { readonly apps: readonly TestApp[] }>(
  act: () => Promise<Seen>,
): Promise<Seen> {
  const isDisturbed = ({ apps }: Seen) => apps.some(({ logged }) => logged().includes(AWAY));
  let seen = await act();
  for (let more = 4; more > 0 && isDisturbed(seen); more -= 1) seen = await act();
  expect(isDisturbed(seen)).toBe(false);
  return seen;
}

describe('a quota that two replicas share', () => {
  test('is spent exactly, whichever of them is asked', async () => {
    const { answers, received } = await undisturbed(async () => {
      const { apps, received } = await start({ fingerprintQuota: { perDay: 101 } });
      const answers: Record<string, number>[] = [];
      for (let round = 0; round < 9; round += 1)
        answers.push(...(await Promise.all(apps.map((app) => judge(app, 10)))));
      return { apps, answers, received };
    });
    expect(answers.reduce((sum, { ok = 0 }) => sum + ok, 0)).toBe(101);
    expect(answers.reduce((sum, { QUOTA_EXCEEDED = 0 }) => sum + QUOTA_EXCEEDED, 0)).toBe(79);
    expect(received()).toBe(101);
  });

  test('is spent exactly by a burst into replicas that have just started', async () => {
    const { apps, received } = await start({ fingerprintQuota: { perDay: 50 } });
    await Promise.all(apps.map((app) => judge(app, 60)));
    expect(received()).toBe(50);
    for (const app of apps) expect(app.logged()).not.toContain(AWAY);
  });

  test('is spent exactly in each second, and a call that is refused costs nothing of the day', async () => {
    const { redis, apps, received, seconds } = await undisturbed(async () => {
      const started = await start({ fingerprintQuota: { perSecond: 40, perDay: 1_000 } });
      const startedAt = performance.now();
      await Promise.all(started.apps.map((app) => judge(app, 50)));
      // On a machine that stalls, the calls reach further seconds.
      return { ...started, seconds: 1 + Math.floor((performance.now() - startedAt) / 1_000) };
    });
    expect(received()).toBeGreaterThanOrEqual(40);
    expect(received()).toBeLessThanOrEqual(40 * seconds);
    expect(await clientOf(redis).get(KEY)).toBe(String(received()));
    await expect.poll(() => judge(apps[0], 1), { interval: 100, timeout: 5_000 }).toEqual({ ok: 1 });
  });

  test('leaves its half to the router, whichever replica a service asks', async () => {
    const [router, orders] = ['the-secret-of-the-router', 'the-secret-of-orders'];
    const services = [{ name: 'orders', secret: orders, scopes: [] }];
    const { spent } = await undisturbed(async () => {
      const { apps, received } = await start({ fingerprintQuota: { perDay: 40 }, routerSecrets: [router], services });
      const spent: number[] = [];
      for (const headers of [{ authorization: `Bearer ${orders}` }, { 'router-authorization': router }]) {
        const before = received();
        await Promise.all(apps.map((app) => ask(app.graphqlUrl, queryForTokens(times(40, String)), {}, headers)));
        spent.push(received() - before);
      }
      return { apps, spent };
    });
    expect(spent).toEqual([20, 20]);
  });

  test('costs a service nothing of its day in a second that the router has used up on another replica', async () => {
    const [router, orders] = ['the-secret-of-the-router', 'the-secret-of-orders'];
    const services = [{ name: 'orders', secret: orders, scopes: [] }];
    const fingerprintQuota = { perSecond: 8, perDay: 1_000 };
    const { spent, counted } = await undisturbed(async () => {
      const { redis, apps, received } = await start({ fingerprintQuota, routerSecrets: [router], services });
      const query = queryForTokens(times(20, String));
      await ask(apps[0].graphqlUrl, query, {}, { 'router-authorization': router });
      const before = received();
      await ask(apps[1].graphqlUrl, query, {}, { authorization: `Bearer ${orders}` });
      const counted = await clientOf(redis).get('device-trust:fingerprint:day:service:orders:pk_sandbox_glb');
      return { apps, spent: received() - before, counted: Number(counted) };
    });
    expect(counted).toBe(spent);
  });

  test('has the id of the account in its keys and nothing else of a request', async () => {
    const { redis, apps } = await start({
      fingerprintQuota: { perSecond: 10, perDay: 10 },
      captchaQuota: { perDay: 10 },
    });
    await judge(apps[0], 2);
    const { data } = await ask(apps[0].graphqlUrl, CAPTCHA_MUTATION, { input: CAPTCHA_INPUT });
    expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed' });
    const client = clientOf(redis);
    const keys = (await client.keys('*')).filter((key) => key !== PROBE_KEY);
    expect(keys.sort()).toEqual([
      `device-trust:captcha:day:${'a'.repeat(32)}`,
      KEY,
      'device-trust:fingerprint:second:pk_sandbox_glb',
    ]);
    expect(await client.get(KEY)).toBe('2');
    expect(await client.ttl(KEY)).toBeGreaterThan(86_000);
  });
});

describe('a store that goes away', () => {
  test('fails no request: killed under load and given back, it is logged once each time', async () => {
    const { redis, apps } = await start({ fingerprintQuota: { perSecond: 100_000, perDay: 1_000_000 } });
    const [app] = apps;
    let isOver = false;
    const failed: Record<string, number>[] = [];
    let answered = 0;
    const load = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const codes = await judge(app, 10);
          answered += 10;
          if (codes['ok'] !== 10) failed.push(codes);
        }
      }),
    );
    for (const _ of [1, 2]) {
      await expect.poll(() => answered, { timeout: 10_000 }).toBeGreaterThan(100);
      await redis.kill();
      await expect.poll(() => storeAway(app), { timeout: 10_000 }).toBe(1);
      answered = 0;
      await expect.poll(() => answered, { timeout: 10_000 }).toBeGreaterThan(100);
      await redis.start();
      await expect.poll(() => storeAway(app), { timeout: 10_000 }).toBe(0);
      answered = 0;
    }
    isOver = true;
    await load;
    expect(failed).toEqual([]);
    const changes = app
      .logged()
      .split('\n')
      .filter((line) => line.includes('quota store'));
    // On a busy machine the store may also be late now and then, which is logged with its deadline.
    expect(changes.filter((line) => line.includes(AWAY) && !line.includes('50 ms'))).toHaveLength(2);
    expect(changes.map((line) => line.includes(AWAY))).toEqual(changes.map((_line, at) => at % 2 === 0));
    expect(app.logged()).not.toContain('a-password');
  });

  test('is one that comes back and then refuses, which the log names too', async () => {
    const settings: Record<string, string> = {};
    const { redis, apps } = await start({ fingerprintQuota: { perDay: 100 } }, settings);
    await redis.kill();
    for (const app of apps) await judge(app, 1);
    settings['min-replicas-to-write'] = '1';
    await redis.start();
    for (const app of apps)
      await expect
        .poll(app.logged, { timeout: 10_000 })
        .toMatch(/"internal":"NOREPLICAS","msg":"quota store unavailable/);
    for (const app of apps) expect(countOf(app.logged(), AWAY)).toBe(2);
  });

  test.each([
    ['READONLY', 'REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'],
    ['NOPERM', 'ACL SETUSER default -eval -evalsha', 'ACL SETUSER default +eval +evalsha'],
  ])(
    'is one that refuses with %s: each replica sends the calls that it last knew to be left',
    async (cause, refuse, allow) => {
      const { redis, apps, received } = await start({ fingerprintQuota: { perDay: 100 } });
      const client = clientOf(redis);
      const command = (line: string) => client.call(...(line.split(' ') as [string, ...string[]]));
      const connections = async () => Number(/received:(\d+)/.exec(await client.info('stats'))?.[1]);
      // Then one knows 70, the other 40.
      for (const app of apps) expect(await judge(app, 30)).toEqual({ ok: 30 });
      const before = await connections();
      await command(refuse);
      expect(await judge(apps[0], 80)).toEqual({ ok: 70, QUOTA_EXCEEDED: 10 });
      expect(await judge(apps[1], 80)).toEqual({ ok: 40, QUOTA_EXCEEDED: 40 });
      for (const app of apps) {
        expect(app.logged()).toContain(`"internal":"${cause}"`);
        expect(await storeAway(app)).toBe(1);
      }
      // A failover behind one name is found by new connections.
      await expect.poll(connections, { timeout: 10_000 }).toBeGreaterThanOrEqual(before + 2);
      await command(allow);
      for (const app of apps) await expect.poll(() => storeAway(app), { timeout: 10_000 }).toBe(0);
      // Even if it has lost its counts, no replica exceeds the quota.
      await client.flushall();
      for (const app of apps) expect(await judge(app, 80)).toEqual({ ok: 0, QUOTA_EXCEEDED: 80 });
      expect(received()).toBe(60 + 70 + 40);
      for (const app of apps) expect([countOf(app.logged(), AWAY), countOf(app.logged(), BACK)]).toEqual([1, 1]);
    },
  );

  test('is not one whose answer waits in the socket while this process is busy', async () => {
    const redis = await startRedis();
    onTestFinished(redis.stop);
    const reports: boolean[] = [];
    const metrics = { recordQuotaStore: (isAway: boolean) => reports.push(isAway), recordQuotaExceeded: () => {} };
    const options = { log: pino({ enabled: false }), metrics, eventLoop: { totalLagMs: () => 0 } };
    const store = await openQuotaStore(redis.url, options);
    onTestFinished(store.close);
    const callers = { hasRouter: true, services: new Map() };
    const quota = createQuota('fingerprint', { perDay: 9 }, () => callers, metrics, store);
    const taken = quota.take('pk_sandbox_glb', ROUTER);
    for (const end = performance.now() + 1_500; performance.now() < end; );
    await taken;
    expect([reports, await clientOf(redis).get(KEY)]).toEqual([[], '1']);
  });

  test('delays the calls of a second by little more than 50 ms if it only hangs, and later ones by nothing', async () => {
    const { redis, apps } = await start({ fingerprintQuota: { perSecond: 1_000, perDay: 100_000 } });
    const [app] = apps;
    await judge(app, 1);
    redis.pause();
    onTestFinished(redis.resume);
    const first = startStopwatch();
    const startedAt = performance.now();
    expect(await judge(app, 50)).toEqual({ ok: 50 });
    expect(performance.now() - startedAt).toBeGreaterThan(45);
    expect(first()).toBeLessThan(500);
    await expect.poll(() => storeAway(app), { timeout: 5_000 }).toBe(1);
    const others = startStopwatch();
    for (let i = 0; i < 20; i += 1) expect(await judge(app, 10)).toEqual({ ok: 10 });
    expect(others()).toBeLessThan(20 * 50);
    redis.resume();
    await expect.poll(() => storeAway(app), { timeout: 10_000 }).toBe(0);
    expect(await judge(app, 1)).toEqual({ ok: 1 });
    // A busy machine can make one more answer late, so the bound is far below the 250 calls.
    const lines = countOf(app.logged(), 'no answer within 50 ms');
    expect([lines, lines < 5]).toEqual([countOf(app.logged(), BACK), true]);
  });

  test('is one without the database of its address, in which nothing is counted anywhere else', async () => {
    const redis = await startRedis();
    onTestFinished(redis.stop);
    const { apps } = await start({ fingerprintQuota: { perDay: 5 }, quotaStoreUrl: `${redis.url}/99` });
    for (const app of apps) expect(await judge(app, 10)).toEqual({ ok: 5, QUOTA_EXCEEDED: 5 });
    await setTimeout(2_500);
    for (const app of apps)
      expect([await storeAway(app), countOf(app.logged(), AWAY), countOf(app.logged(), BACK)]).toEqual([1, 1, 0]);
    expect(await clientOf(redis).info('keyspace')).not.toContain('keys=');
  });

  test('is one node of a cluster that has the slots of some accounts alone', async () => {
    // By default the port of the cluster is 10,000 above, where the system gives ports to clients.
    const redis = await startRedis({ 'cluster-enabled': 'yes', 'cluster-port': `${await freePort()}` });
    onTestFinished(redis.stop);
    const client = clientOf(redis);
    const slots = [PROBE_KEY, KEY].map(async (key) => Number(await client.call('CLUSTER', 'KEYSLOT', key)));
    const [ofProbe = 0, ofKey = 0] = await Promise.all(slots);
    await client.call('CLUSTER', 'ADDSLOTS', ofProbe);
    expect(ofProbe).not.toBe(ofKey);
    // Before the node knows that it is up, it refuses the probe as well.
    await expect.poll(() => client.call('CLUSTER', 'INFO'), { timeout: 10_000 }).toContain('cluster_slots_assigned:1');
    const { apps } = await start({ fingerprintQuota: { perDay: 5 }, quotaStoreUrl: redis.url });
    for (const app of apps) expect(await judge(app, 10)).toEqual({ ok: 5, QUOTA_EXCEEDED: 5 });
    const looks: unknown[] = [];
    for (let look = 0; look < 10; look += 1) {
      await setTimeout(300);
      for (const app of apps) {
        await judge(app, 1);
        looks.push(await storeAway(app));
      }
    }
    expect(looks).toEqual(Array(20).fill(1));
    for (const app of apps) expect([countOf(app.logged(), AWAY), countOf(app.logged(), BACK)]).toEqual([1, 0]);
  });

  test('does not keep the outage of a hanging upstream from being confirmed', async () => {
    const redis = await startRedis();
    onTestFinished(redis.stop);
    let isHanging = false;
    const upstream = await startUpstream(
      () => {},
      ({ body }, response) => {
        const { status, body: documented } = probeAnswer(body);
        if (!isHanging) response.writeHead(status).end(documented);
      },
    );
    onTestFinished(upstream.stop);
    const limits = { fingerprintQuota: { perDay: 1_000 }, fingerprintTimeoutMs: 1_500 };
    const app = await startInLiveMode(upstream.url, { quotaStoreUrl: redis.url, ...limits });
    onTestFinished(app.stop);
    isHanging = true;
    await judge(app, 25);
    await expect.poll(app.logged).toContain('The service is down');
  });
});
