import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createDnsCache, type DnsCache, type Lookup } from '../../src/runtime/dns.ts';
import { evidenceOfStatus, sendProbe } from '../../src/upstream/probe.ts';
import {
  answer,
  type Behaviour,
  bytes,
  closeConnection,
  hang,
  head,
  reset,
  startHostile,
  thenClose,
} from '../support/hostile.ts';
import { untilEnd } from '../support/until-end.ts';
import { probeOf } from './support.ts';

/** How a probe is sent, and what its end shows. `account-health.test.ts` has what follows from several of them. */

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];

const startServer = (behave: Behaviour) => untilEnd(startHostile(behave));

interface Options {
  readonly timeoutMs?: number;
  readonly dns?: DnsCache;
  readonly totalLagMs?: () => number;
}

function probe(url: string, { timeoutMs = 60_000, dns = createDnsCache(), totalLagMs = () => 0 }: Options = {}) {
  return sendProbe(probeOf(url), { dns, eventLoop: { totalLagMs }, timeoutMs }, new AbortController().signal);
}

/** A dns whose look-ups take this time and then have these addresses, or this error. */
function resolverOf(ms: number, found: typeof LOOPBACK | string): DnsCache {
  const lookup: Lookup = async () => {
    await sleep(ms);
    if (typeof found === 'string') throw Object.assign(new Error(), { code: found });
    return found;
  };
  return createDnsCache(undefined, lookup);
}

describe('a probe', () => {
  test('a probe is a POST with its path and its body, on a connection of its own, which it closes', async () => {
    let request = '';
    const upstream = await startServer((exchange) => {
      request = exchange.request;
      answer(200, '{}', { 'keep-alive': 'timeout=60' })(exchange);
    });
    for (let round = 0; round < 3; round += 1) expect(await probe(upstream.url)).toMatchObject({ evidence: 'well' });
    expect(request).toMatch(/^POST \/probe HTTP\/1\.1\r\n/);
    expect(request).toMatch(/\r\n\r\nprobe$/);
    expect([upstream.requests, upstream.connections]).toEqual([3, 3]);
    // An idle one that is kept stays open for 10 s.
    await expect.poll(() => upstream.open, { timeout: 9_000 }).toBe(0);
  });

  test('a probe that is aborted ends at once, shows nothing, and closes its connection', async () => {
    const upstream = await startServer(hang);
    const aborting = new AbortController();
    const tools = { dns: createDnsCache(), eventLoop: { totalLagMs: () => 0 }, timeoutMs: 60_000 };
    const result = sendProbe(probeOf(upstream.url), tools, aborting.signal);
    await expect.poll(() => upstream.open).toBe(1);
    aborting.abort();
    expect(await result).toMatchObject({ evidence: 'local_failure' });
    await expect.poll(() => upstream.open).toBe(0);
    const lateDns = { ...tools, dns: resolverOf(0, LOOPBACK) };
    const url = `http://upstream.example:${upstream.port}`;
    expect(await sendProbe(probeOf(url), lateDns, AbortSignal.abort())).toMatchObject({ evidence: 'local_failure' });
    expect(upstream.requests).toBe(1);
  });
});

describe('a probe waits for its whole deadline', () => {
  test('a probe without an answer fails at its deadline', async () => {
    const upstream = await startServer(hang);
    const begun = performance.now();
    expect(await probe(upstream.url, { timeoutMs: 500 })).toEqual({
      evidence: 'failed',
      reason: 'no answer within 500 ms',
    });
    expect(performance.now() - begun).toBeGreaterThan(490);
  });

  test('a probe at its deadline shows nothing if it was sent late, and no later lag excuses the service; the deadline begins after the look-up', async () => {
    const upstream = await startServer(hang);
    // The first reading is at its begin, the second one when it was sent.
    const lagging = (...readings: readonly number[]) => {
      const left = [...readings];
      return probe(upstream.url, { timeoutMs: 500, totalLagMs: () => (left.length > 1 ? left.shift() : left[0]) ?? 0 });
    };
    expect(await lagging(0, 251)).toMatchObject({ evidence: 'local_failure', reason: expect.stringContaining('late') });
    expect(await lagging(0, 249, 40_000)).toMatchObject({ evidence: 'failed' });
    const slow = await startServer((exchange) => void setTimeout(answer(200, '{}'), 400, exchange));
    const url = `http://upstream.example:${slow.port}`;
    expect(await probe(url, { timeoutMs: 800, dns: resolverOf(600, LOOPBACK) })).toMatchObject({ evidence: 'well' });
  });
});

test.each([
  ['failed', [500, 502, 503, 520]],
  // A bot can provoke what a firewall answers.
  ['inconclusive', [200, 202, 302, 400, 401, 403, 404, 405, 413]],
  ['limited', [429]],
])('an undocumented answer is %s with each status of %j', (evidence, statuses) => {
  for (const status of statuses) expect(evidenceOfStatus(status)).toBe(evidence);
});

describe('a probe without an answer', () => {
  // What answers with 200 is not down. Another status says by itself what is wrong.
  test.each<[string, string, Behaviour]>([
    ['failed', 'a reset', reset],
    ['failed', 'a closed connection', closeConnection],
    ['failed', 'an interim response', bytes('HTTP/1.1 100 Continue\r\n\r\n')],
    ['failed', 'half of an answer with status 503', bytes(`${head(503, { 'content-length': '9' })}<`)],
    ['inconclusive', 'half of a redirect', bytes(`${head(302, { 'content-length': '9' })}<`)],
    ['failed', 'half of the headers and silence', bytes('HTTP/1.1 200 OK\r\ncontent-')],
    ['failed', 'the head of an answer and silence', bytes(head(200, { 'content-length': '9' }))],
    ['inconclusive', 'the head of an answer and its end', thenClose(bytes(head(200, { 'content-length': '9' })))],
    ['inconclusive', 'half of an answer and silence', bytes(`${head(200, { 'content-length': '9' })}{`)],
    ['inconclusive', 'half of an answer and its end', thenClose(bytes(`${head(200, { 'content-length': '9' })}{`))],
    ['inconclusive', 'something else than HTTP', bytes('nonsense\r\n\r\n')],
  ])('a probe without an answer is %s after %s', async (evidence, _what, behave) => {
    const upstream = await startServer(behave);
    expect(await probe(upstream.url, { timeoutMs: 500 })).toMatchObject({ evidence });
  });

  test('a probe without an answer has failed if nothing listens at the address', async () => {
    const upstream = await startServer(hang);
    await upstream.stop();
    expect(await probe(upstream.url)).toMatchObject({ evidence: 'failed' });
  });

  test('a probe without an answer shows that there is no such host, however long the look-up took', async () => {
    expect(await probe('http://upstream.example', { dns: resolverOf(50, 'ENOTFOUND') })).toMatchObject({
      evidence: 'no_such_host',
      reason: 'look-up ENOTFOUND',
    });
  });

  test('a probe without an answer shows nothing if the look-up fails', async () => {
    for (const code of ['EAI_AGAIN', 'EAI_FAIL', 'EBUSY', 'EMFILE', 'ENFILE', 'ENOMEM']) {
      const result = await probe('http://upstream.example', { dns: resolverOf(0, code) });
      expect(result, code).toEqual({ evidence: 'local_failure', reason: `look-up ${code}` });
    }
  });
});

test('a late answer that shows something is used, although the event loop lagged', async () => {
  let lagMs = 0;
  const upstream = await startServer((exchange) => void setTimeout(answer(503, ''), 300, exchange));
  const result = probe(upstream.url, { totalLagMs: () => lagMs });
  await sleep(10);
  lagMs = 40_000;
  expect(await result).toMatchObject({ evidence: 'failed', reason: 'HTTP status 503' });
});
