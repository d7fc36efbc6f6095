import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/settings/variables.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, queryForTokens } from '../support/graphql.ts';
import { listen } from '../support/loopback.ts';
import { freePort } from '../support/ports.ts';
import { startRedis } from '../support/redis.ts';
import { ask } from '../support/requests.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import { startGood } from './support.ts';

/** Quotas that all replicas share, with a real Redis or Valkey. */

const [AWAY, BACK] = ['quota store unavailable; counting per process', 'the quota store counts again'];
const KEY = 'device-trust:fingerprint:day:pk_sandbox_glb';

type Store = Awaited<ReturnType<typeof startStore>>;

async function startStore(settings: Readonly<Record<string, string>> = {}) {
  const redis = await untilEnd(startRedis(settings));
  const client = new Redis(redis.url).on('error', () => {});
  onTestFinished(() => client.disconnect());
  const command = (line: string) => client.call(...(line.split(' ') as [string, ...string[]]));
  return { ...redis, client, command, relay: await startRelay(Number(new URL(redis.url).port)) };
}

/**
 * An address that leads to a port, which can change, and that can delay or distort answers. Connections of an earlier epoch
 * stay open, but no answer comes through, as if a network or a node had died.
 */
async function startRelay(port: number) {
  const relay = { target: port, delayMs: 0, distort: (answers: string) => answers, epoch: 0 };
  const server = createServer((client) => {
    const { epoch } = relay;
    const own = connect(relay.target, '127.0.0.1');
    client.on('data', (data) => own.write(data));
    let sent = Promise.resolve();
    own.on('data', (data) => {
      if (relay.delayMs > 0) sent = sent.then(() => sleep(relay.delayMs));
      if (epoch === relay.epoch) sent = sent.then(() => void client.write(relay.distort(data.toString())));
    });
    for (const socket of [client, own]) socket.on('error', () => {});
    client.once('close', () => own.destroy());
    own.once('close', () => client.destroy());
  });
  onTestFinished(() => void server.close());
  return Object.assign(relay, { port: await listen(server, await freePort()) });
}

/** An upstream, and two replicas of the app with this store. */
async function startReplicas(quotaStoreUrl: string, overrides: Partial<Config>) {
  const upstream = await startGood();
  const startReplica = () => untilEnd(startInLiveMode(upstream.url, { quotaStoreUrl, ...overrides }));
  return { apps: [await startReplica(), await startReplica()] as const, received: () => upstream.received.length };
}

/** Asks about so many tokens in one operation, and counts the codes of what came back. */
async function judge(app: TestApp, count: number): Promise<Record<string, number>> {
  const { errors = [] } = await ask(app.graphqlUrl, queryForTokens(times(count, String)));
  const codes: Record<string, number> = { ok: count - errors.length };
  for (const { extensions } of errors) codes[extensions.code] = (codes[extensions.code] ?? 0) + 1;
  return codes;
}

const countOf = (app: TestApp, sentence: string) => app.logged().split(sentence).length - 1;
const isStoreAway = async (app: TestApp) => (await readMetrics(app)).value('device_trust_quota_store_away');

/** Asks both replicas about so many tokens at once. Gives how many were sent. */
async function sentBy(apps: readonly TestApp[], count: number): Promise<number> {
  const codes = await Promise.all(apps.map((app) => judge(app, count)));
  return codes.reduce((sum, { ok = 0 }) => sum + ok, 0);
}

describe('a quota that two replicas share', { retry: 3 }, () => {
  test('replicas share a quota exactly while its store answers, whichever replica is asked', async () => {
    const { url } = await startStore();
    const { apps, received } = await startReplicas(url, { fingerprintQuota: { perDay: 101 } });
    let sent = await sentBy(apps, 40);
    for (let round = 0; round < 9; round += 1) sent += await sentBy(apps, 10);
    expect([sent, received()]).toEqual([101, 101]);
  });

  test('a refused call costs nothing: not of the day, and not of a quota that is raised later', async () => {
    const { url, client } = await startStore();
    const { apps, received } = await startReplicas(url, { fingerprintQuota: { perSecond: 15, perDay: 40 } });
    for (let round = 0; received() < 40; round += 1) {
      expect(round).toBeLessThan(20);
      await sentBy(apps, 20);
      await sleep(500);
    }
    await sentBy(apps, 50);
    await expect.poll(() => client.get(KEY)).toBe('40');
    const raised = await startReplicas(url, { fingerprintQuota: { perDay: 45 } });
    expect(await sentBy(raised.apps, 10)).toBe(5);
  });

  test('the keys of the store have the id of the account and nothing else of a request', async () => {
    const { url, client } = await startStore();
    const quotas = { fingerprintQuota: { perSecond: 10, perDay: 10 }, captchaQuota: { perDay: 10 } };
    const [app] = (await startReplicas(url, quotas)).apps;
    await judge(app, 2);
    const { data } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: CAPTCHA_INPUT });
    expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed' });
    expect((await client.keys('*')).sort()).toEqual([
      `device-trust:captcha:day:${'a'.repeat(32)}`,
      KEY,
      'device-trust:fingerprint:second:pk_sandbox_glb',
    ]);
    expect(await client.get(KEY)).toBe('2');
    expect(await client.ttl(KEY)).toBeGreaterThan(86_000);
  });
});

interface Fault {
  /** What the log names. */
  readonly cause: string;
  readonly isBehindRelay?: true;
  readonly settings?: Readonly<Record<string, string>>;
  readonly prepare?: (store: Store) => Promise<unknown>;
  readonly begin: (store: Store) => unknown;
  readonly end: (store: Store) => unknown;
}

const commands = (cause: string, begin: string, end: string): Fault => ({
  cause,
  begin: ({ command }) => command(begin),
  end: ({ command }) => command(end),
});
/** A proxy or a script that is not ours answers this instead of a count and the ms of its window. */
const senseless = (answer: string): Fault => ({
  cause: 'an answer that is no count',
  isBehindRelay: true,
  begin: ({ relay }) => {
    relay.distort = (answers) => answers.replace(/\*2\r\n:\d+\r\n:\d+\r\n/g, answer);
  },
  end: ({ relay }) => {
    relay.distort = (answers) => answers;
  },
});
const slot = (client: Redis) => client.call('CLUSTER', 'KEYSLOT', KEY);

const FAULTS: Readonly<Record<string, Fault>> = {
  'is restarted': { cause: 'ECONNREFUSED', begin: ({ kill }) => kill(), end: ({ start }) => start() },
  'fails over to another server': {
    cause: 'READONLY',
    isBehindRelay: true,
    begin: ({ command }) => command('REPLICAOF 127.0.0.1 1'),
    end: async ({ relay }) => {
      const promoted = await untilEnd(startRedis());
      relay.target = Number(new URL(promoted.url).port);
    },
  },
  'is read-only': commands('READONLY', 'REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'),
  'is full': commands('OOM', 'CONFIG SET maxmemory 1', 'CONFIG SET maxmemory 0'),
  'has another password': {
    cause: 'WRONGPASS',
    begin: async ({ command }) => {
      await command('CONFIG SET requirepass another');
      await command('CLIENT KILL TYPE normal');
    },
    end: ({ command, url }) => command(`CONFIG SET requirepass ${new URL(url).password}`),
  },
  'is a node of a cluster without the slot of the account': {
    cause: 'CLUSTERDOWN',
    settings: { 'cluster-enabled': 'yes' },
    prepare: async ({ command }) => {
      await command('CLUSTER ADDSLOTSRANGE 0 16383');
      await expect.poll(() => command('CLUSTER INFO'), { timeout: 10_000 }).toContain('cluster_state:ok');
    },
    begin: async ({ command, client }) => command(`CLUSTER DELSLOTS ${await slot(client)}`),
    end: async ({ command, client }) => command(`CLUSTER ADDSLOTS ${await slot(client)}`),
  },
  'is frozen': { cause: 'no answer within 50 ms', begin: ({ pause }) => pause(), end: ({ resume }) => resume() },
  'answers each count after 100 ms': {
    cause: 'no answer within 50 ms',
    isBehindRelay: true,
    begin: ({ relay }) => {
      relay.delayMs = 100;
    },
    end: ({ relay }) => {
      relay.delayMs = 0;
    },
  },
  'answers less than the call itself': senseless('*2\r\n:0\r\n:1000\r\n'),
  'answers a word': senseless('*2\r\n$5\r\nseven\r\n:1000\r\n'),
  'answers more than any number of calls': senseless('*2\r\n:9223372036854775807\r\n:1000\r\n'),
  'answers no list': senseless(':1\r\n'),
};

const LIMIT = 20;
/** What a busy machine may add to the time of an operation, in ms. */
const SLACK_MS = 150;

// A machine that stalls the store for 50 ms makes an absence of its own.
describe('a store that goes away', { retry: 3 }, () => {
  test.each(Object.entries(FAULTS))(
    'a store that %s: each replica counts alone and no call waits more than 50 ms; then they count together again',
    async (_name, { cause, isBehindRelay, settings, prepare, begin, end }) => {
      const store = await startStore(settings && { ...settings, 'cluster-port': `${await freePort()}` });
      await prepare?.(store);
      const { port, password } = new URL(store.url);
      const url = isBehindRelay ? store.url.replace(port, `${store.relay.port}`) : store.url;
      const { apps } = await startReplicas(url, { fingerprintQuota: { perSecond: 10_000, perDay: LIMIT } });
      expect(await sentBy(apps, 5)).toBe(10);
      for (const app of apps) expect(await isStoreAway(app)).toBe(0);

      await begin(store);
      for (const app of apps) {
        let sent = 0;
        for (const count of [1, 1, LIMIT, 1]) {
          const elapsed = startStopwatch();
          sent += (await judge(app, count))['ok'] ?? 0;
          expect(elapsed()).toBeLessThan(50 + SLACK_MS);
        }
        expect(sent).toBe(LIMIT);
        expect(await isStoreAway(app)).toBe(1);
      }
      await sleep(1_200);
      for (const app of apps) {
        expect(app.logged()).toContain(`"internal":"${cause}","msg":"${AWAY}"`);
        expect([countOf(app, AWAY), countOf(app, BACK), await isStoreAway(app)]).toEqual([1, 0, 1]);
      }

      await end(store);
      for (const app of apps) {
        const isAwayAfterCall = () => judge(app, 1).then(() => isStoreAway(app));
        await expect.poll(isAwayAfterCall, { timeout: 10_000 }).toBe(0);
      }
      const client = new Redis(url);
      onTestFinished(() => client.disconnect());
      await client.flushall();
      expect(await sentBy(apps, 15)).toBe(LIMIT);
      for (const app of apps) {
        expect([countOf(app, AWAY), countOf(app, BACK)]).toEqual([1, 1]);
        expect(app.logged()).not.toContain(password);
      }
    },
  );

  test('a store that dies without a FIN: a new connection leads to the next one, and no call is counted twice', async () => {
    const { url, client, relay } = await startStore();
    const toRelay = url.replace(new URL(url).port, `${relay.port}`);
    const [app] = (await startReplicas(toRelay, { fingerprintQuota: { perDay: 100 } })).apps;
    await judge(app, 5);
    relay.epoch += 1;
    const elapsed = startStopwatch();
    await judge(app, 1);
    await expect.poll(app.logged, { timeout: 5_000 }).toContain('"no answer for 3 s; opening a new connection"');
    await expect.poll(() => judge(app, 1).then(() => isStoreAway(app)), { timeout: 5_000 }).toBe(0);
    expect(elapsed()).toBeLessThan(5_000);
    // The last one was counted by the next connection.
    expect(await client.get(KEY)).toBe('7');
    expect([countOf(app, AWAY), countOf(app, 'no answer within 50 ms'), countOf(app, BACK)]).toEqual([2, 1, 1]);
  });

  test('a store that refuses a key: the calls of this key are counted alone, and all others together', async () => {
    const { url, client } = await startStore();
    const { apps } = await startReplicas(url, { fingerprintQuota: { perDay: 5 }, captchaQuota: { perDay: 5 } });
    await client.lpush(KEY, 'of another program');
    let [judged, passed] = [0, 0];
    for (const app of [...apps, ...apps, ...apps, ...apps]) {
      judged += (await judge(app, 2))['ok'] ?? 0;
      const { data } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: CAPTCHA_INPUT });
      if (data.validateCaptcha) passed += 1;
    }
    expect([judged, passed]).toEqual([10, 5]);
    for (const app of apps) {
      expect(app.logged()).toContain(`"internal":"WRONGTYPE","msg":"${AWAY}"`);
      expect([countOf(app, AWAY), countOf(app, BACK), await isStoreAway(app)]).toEqual([1, 0, 1]);
    }
  });

  test('a store that refuses a key: a refused call is taken back where it was counted', async () => {
    const { url, client } = await startStore();
    const services = [{ name: 'orders', secret: 'the-secret-of-orders', scopes: [] }];
    const overrides = { fingerprintQuota: { perDay: 4 }, routerSecrets: ['secret-of-the-router'], services };
    const [app] = (await startReplicas(url, overrides)).apps;
    await client.set(KEY, 4);
    await client.lpush(KEY.replace('day:', 'day:service:orders:'), 'of another program');
    const as = { authorization: 'Bearer the-secret-of-orders' };
    for (const token of times(5, String)) await ask(app.graphqlUrl, queryForTokens([token]), {}, as);
    expect(countOf(app, 'quota of 4 calls a day is used up')).toBe(5);
  });

  test('a store without the database of its address: nothing is counted in another one', async () => {
    const { url, client } = await startStore();
    const { apps } = await startReplicas(`${url}/99`, { fingerprintQuota: { perDay: 5 } });
    for (const app of apps) expect(await judge(app, 10)).toEqual({ ok: 5, QUOTA_EXCEEDED: 5 });
    await sleep(1_500);
    for (const app of apps) expect(await judge(app, 1)).toMatchObject({ QUOTA_EXCEEDED: 1 });
    for (const app of apps) expect([await isStoreAway(app), countOf(app, AWAY), countOf(app, BACK)]).toEqual([1, 1, 0]);
    expect(await client.info('keyspace')).not.toContain('keys=');
  });
});
