import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createDnsCache, type Lookup } from '../../src/runtime/dns.ts';
import type { Evidence } from '../../src/upstream/health-table.ts';
import { openPool } from '../../src/upstream/pool.ts';
import { sendProbe } from '../../src/upstream/probe.ts';
import type { UpstreamResponse } from '../../src/upstream/transport.ts';
import { answer, type Behaviour, closeConnection, type Hostile, hang, startHostile } from '../support/hostile.ts';
import { untilEnd } from '../support/until-end.ts';
import { asIs, createContext, createTestClient, probeOf, requestTo } from './support.ts';

/** Which socket a request gets: how its host name is looked up, and how many there are. */

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];
const good = answer(200, '{}');
const atName = ({ port }: Hostile) => `http://upstream.example:${port}`;

const failed = (response: UpstreamResponse) => ({ ...asIs(response), evidence: 'failed' as const });

const start = (behave: Behaviour) => untilEnd(startHostile(behave));

/** A client whose dns asks this look-up, and a function that makes one call. */
function startClient(lookup: Lookup, timeoutMs = 60_000) {
  const dns = createDnsCache(undefined, lookup);
  const client = createTestClient({ dns, timeoutMs, upstreamMaxInFlight: 1_000 });
  return {
    post: (origin: string) => client.call(requestTo(origin, createContext()), asIs),
    /** Makes a call, and leaves its socket idle. */
    postFirst: async (origin: string) => {
      await client.call(requestTo(origin, createContext()), asIs);
      // undici frees the socket after it has delivered the response.
      await sleep(10);
    },
  };
}

describe('a host name', () => {
  test('a host name is not looked up if it is an IP address', async () => {
    const upstream = await start(good);
    const { post } = startClient(() => {
      throw new Error('expected no look-up');
    });
    expect(await post(upstream.url)).toMatchObject({ status: 200 });
    await expect(post('http://[::1]:9')).rejects.toMatchObject({
      code: expect.stringMatching(/UNAVAILABLE|OVERLOADED/),
    });
  });

  test('a host name whose first address does not answer is reached at another one, of the other family', async () => {
    const upstream = await start(good);
    const { post } = startClient(async () => [{ address: '::1', family: 6 }, ...LOOPBACK]);
    expect(await post(atName(upstream))).toMatchObject({ status: 200 });
  });
});

test.each<[string, Behaviour]>([
  ['leaves requests unanswered', hang],
  ['closes connections instead of an answer', closeConnection],
  ['answers 503 for a service that is not there', answer(503, '<h1>503</h1>')],
  ['answers 404 for everything', answer(404, '<h1>404</h1>')],
])('an address that %s is the last one as soon as a probe shows it, whatever calls show', async (_what, behave) => {
  const broken = await start(behave);
  const healthy = await untilEnd(startHostile(good, { at: [broken.port, '127.0.0.2'] }));
  const both = [...LOOPBACK, { address: '127.0.0.2', family: 4 }];
  const dns = createDnsCache(undefined, async () => both);
  const client = createTestClient({ dns, timeoutMs: 500, upstreamMaxInFlight: 1_000 });
  const url = atName(broken);
  const post = () => client.call(requestTo(url, createContext()), failed).catch(() => 'failed');
  // A client can provoke each of these.
  for (const _ of [1, 2]) await post();
  expect([broken.requests, healthy.requests]).toEqual([2, 0]);
  const options = { dns, eventLoop: { totalLagMs: () => 0 }, timeoutMs: 500 };
  await sendProbe(probeOf(url), options, new AbortController().signal);
  await post();
  expect([broken.requests, healthy.requests]).toEqual([3, 1]);
});

test('a probe that fails where the name no longer leads shows nothing of the service', async () => {
  const drained = await start(closeConnection);
  let address = '127.0.0.1';
  const dns = createDnsCache(undefined, async () => [{ address, family: 4 }]);
  await dns.nameFor('upstream.example').lookUp();
  // An answer that is a second old is asked for again.
  await sleep(1_000);
  address = '127.0.0.2';
  const options = { dns, eventLoop: { totalLagMs: () => 0 }, timeoutMs: 500 };
  const { evidence } = await sendProbe(probeOf(atName(drained)), options, new AbortController().signal);
  expect(evidence).toBe('local_failure');
});

describe('a look-up', () => {
  test('a look-up whose answer is a second old is repeated when its address refuses a connection', async () => {
    const upstream = await start(good);
    let address = '127.0.0.2';
    const { post } = startClient(async () => [{ address, family: 4 }]);
    await expect(post(atName(upstream))).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await sleep(1_000);
    address = '127.0.0.1';
    expect(await post(atName(upstream))).toMatchObject({ status: 200 });
  });

  test.each([
    ...['EAI_AGAIN', 'EAI_FAIL', 'EAI_MEMORY', 'EBUSY', 'EMFILE', 'ENFILE', 'ENOMEM', 'EIO'].map((code) => [
      code,
      'OVERLOADED',
    ]),
    // No such host exists.
    ['ENOTFOUND', 'UPSTREAM_UNAVAILABLE'],
  ])('a look-up that fails with %s is %s, because only one of them is about the upstream', async (error, code) => {
    const { post } = startClient(() => Promise.reject(Object.assign(new Error('look-up'), { code: error })));
    await expect(post('http://upstream.example')).rejects.toMatchObject({ code, internal: `look-up ${error}` });
  });

  test('a look-up takes nothing from the deadline, and its time excuses no late response', async () => {
    const afterLookup: Lookup = () => sleep(700, LOOPBACK);
    const slow = await start((exchange) => void setTimeout(good, 1_500, exchange));
    expect(await startClient(afterLookup, 2_000).post(atName(slow))).toMatchObject({ status: 200 });
    const hanging = await start(hang);
    const late = startClient(afterLookup, 700).post(atName(hanging));
    await expect(late).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  });

  test('a look-up of a client that disconnects is followed by no request', async () => {
    const upstream = await start(good);
    const dns = createDnsCache(undefined, () => sleep(100, LOOPBACK));
    const client = createTestClient({ dns });
    const context = createContext();
    const call = client.call(requestTo(atName(upstream), context), asIs);
    context.cancel();
    await expect(call).rejects.toThrow('disconnected');
    expect(upstream.connections).toBe(0);
  });
});

describe('a socket', () => {
  test.each<[Evidence, number]>([
    ['well', 1],
    ['answered', 1],
    ['failed', 2],
    ['refused', 2],
    ['inconclusive', 2],
  ])(
    'a socket whose answer is %s serves the next call unless the backend may be broken',
    async (evidence, connections) => {
      const upstream = await start(good);
      const client = createTestClient({ upstreamMaxInFlight: 1_000 });
      for (const _ of [1, 2]) {
        await client.call(requestTo(upstream.url, createContext()), (response) => ({ ...asIs(response), evidence }));
        await sleep(10);
      }
      expect(upstream.connections).toBe(connections);
    },
  );

  test('a socket of a call that ended serves one of the queue, so that there are never more than calls under way', async () => {
    const waiting: (() => void)[] = [];
    const upstream = await start((exchange) => void waiting.push(() => good(exchange)));
    const client = createTestClient({ upstreamMaxInFlight: 50 });
    const calls = Array.from({ length: 100 }, () => client.call(requestTo(upstream.url, createContext()), asIs));
    await expect.poll(() => waiting.length).toBe(50);
    for (let served = 0; served < 100; ) {
      await expect.poll(() => waiting.length, { interval: 1 }).toBeGreaterThan(0);
      served += waiting.length;
      for (const serve of waiting.splice(0)) serve();
    }
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(upstream.connections).toBe(50);
  });

  test('a socket that is not open yet keeps the place of its call, also after the client has left', async () => {
    // It accepts connections, and never finishes a TLS handshake.
    const upstream = await start(hang);
    const client = createTestClient({ upstreamMaxInFlight: 5 });
    const callAndLeave = async () => {
      const context = createContext();
      const call = client.call(requestTo(`https://127.0.0.1:${upstream.port}`, context), asIs).catch(() => {});
      await sleep(8);
      context.cancel();
      await call;
    };
    for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 5 }, callAndLeave));
    expect(upstream.connections).toBe(5);
    // The places are free again once the attempts have ended.
    await expect.poll(() => upstream.open, { timeout: 8_000 }).toBe(0);
    const good = await start(answer(200, '{}'));
    expect(await client.call(requestTo(good.url, createContext()), asIs)).toMatchObject({ status: 200 });
  });

  test('a socket is not opened by a call that is sent again while its pool ends', async () => {
    const upstream = await start(good);
    const pool = openPool(upstream.url, createDnsCache());
    await pool.close();
    const { response } = pool.post(probeOf(upstream.url), '{}', new AbortController().signal);
    await expect(response).rejects.toThrow();
    expect(upstream.connections).toBe(0);
  });

  test('a socket that opens after its client has left frees one place', async () => {
    const upstream = await start(hang);
    const client = createTestClient({ upstreamMaxInFlight: 1 });
    for (let time = 0; time < 3; time += 1) {
      const context = createContext();
      const call = client.call(requestTo(upstream.url, context), asIs);
      // The call is sent in a microtask, and its socket opens in a later turn of the event loop.
      for (let step = 0; step < 20; step += 1) await null;
      context.cancel();
      await expect(call).rejects.toThrow('disconnected');
      await sleep(20);
    }
    for (let time = 0; time < 2; time += 1) client.call(requestTo(upstream.url, createContext()), asIs).catch(() => {});
    await expect.poll(() => upstream.requests).toBeGreaterThan(0);
    await sleep(100);
    expect(upstream.requests).toBe(1);
  });
});
