import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Lookup, Resolver } from '../../src/runtime/dns.ts';
import { judgeStatus, sendProbe, silenceMs } from '../../src/upstream/probe.ts';
import { makeCertificate } from '../support/certificate.ts';
import { answer, type Behaviour, bytes, closeConnection, hang, reset, startHostile } from '../support/hostile.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { probeOf } from './support.ts';

/** How a probe is sent, and what its end shows. `health.test.ts` has what follows from several of them. */

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];

async function startServer(behave: Behaviour, options: Parameters<typeof startHostile>[1] = {}) {
  const upstream = await startHostile(behave, options);
  onTestFinished(upstream.stop);
  return upstream;
}

interface Options {
  readonly timeoutMs?: number;
  readonly resolver?: Resolver;
  readonly totalLagMs?: () => number;
}

/** Sends a probe. What it gives has the silences as well, in ms. */
async function probe(url: string, { timeoutMs = 1_000, resolver = new Resolver(), totalLagMs }: Options = {}) {
  const silences: number[] = [];
  const { signal } = new AbortController();
  const tools = { resolver, eventLoop: { totalLagMs: totalLagMs ?? (() => 0) }, timeoutMs, signal };
  const result = await sendProbe(probeOf(url), tools, (ms) => silences.push(ms));
  return { ...result, silences };
}

/** A resolver whose look-ups take this time and then have these addresses, or this error. */
function resolverOf(ms: number, found: typeof LOOPBACK | string): Resolver {
  const lookup: Lookup = (_hostname, done) => {
    if (typeof found === 'string') setTimeout(done, ms, Object.assign(new Error(), { code: found }), []);
    else setTimeout(done, ms, null, found);
  };
  const resolver = new Resolver(lookup);
  onTestFinished(() => resolver.close());
  return resolver;
}

describe('a probe', () => {
  test('has a connection of its own, which it closes', async () => {
    const upstream = await startServer(answer(200, '{}', { 'keep-alive': 'timeout=60' }));
    for (let round = 0; round < 3; round += 1) expect(await probe(upstream.url)).toMatchObject({ kind: 'well' });
    expect([upstream.requests, upstream.connections]).toEqual([3, 3]);
    await expect.poll(() => upstream.open).toBe(0);
  });

  test('is a POST with the path, the headers and the body that belong to it', async () => {
    let request = '';
    const upstream = await startServer((exchange) => {
      request = exchange.request;
      answer(200, '{}')(exchange);
    });
    await probe(upstream.url);
    expect(request).toMatch(/^POST \/probe HTTP\/1\.1\r\n/);
    expect(request).toMatch(/\r\n\r\nprobe$/);
  });

  test('that is aborted ends at once, shows nothing, and closes its connection', async () => {
    const upstream = await startServer(hang);
    const aborting = new AbortController();
    const tools = { resolver: new Resolver(), eventLoop: { totalLagMs: () => 0 }, timeoutMs: 30_000 };
    const result = sendProbe(probeOf(upstream.url), { ...tools, signal: aborting.signal }, () => {});
    await expect.poll(() => upstream.open).toBe(1);
    aborting.abort();
    expect(await result).toMatchObject({ kind: 'inconclusive' });
    await expect.poll(() => upstream.open).toBe(0);
  });
});

describe('silence', () => {
  test('is reported once, and the probe goes on to its deadline', async () => {
    const upstream = await startServer(hang);
    const begun = performance.now();
    const elapsed = startStopwatch();
    expect(await probe(upstream.url, { timeoutMs: 500 })).toEqual({
      kind: 'failed',
      reason: 'no answer within 500 ms',
      silences: [200],
    });
    expect(performance.now() - begun).toBeGreaterThan(490);
    expect(elapsed()).toBeLessThan(800);
  });

  test('can end with an answer before the deadline', async () => {
    const upstream = await startServer((exchange) => void setTimeout(answer(200, '{}'), 400, exchange));
    expect(await probe(upstream.url, { timeoutMs: 2_000 })).toEqual({ kind: 'well', reason: '', silences: [] });
    expect(await probe(upstream.url, { timeoutMs: 700 })).toEqual({ kind: 'well', reason: '', silences: [280] });
  });

  test('is not reported while the event loop lags, nor while a look-up lasts', async () => {
    const upstream = await startServer(hang);
    let lagMs = 0;
    const lagging = probe(upstream.url, { timeoutMs: 500, totalLagMs: () => lagMs });
    lagMs = 251;
    expect(await lagging).toEqual({ kind: 'inconclusive', reason: 'this process was late', silences: [] });

    const resolver = resolverOf(300, LOOPBACK);
    expect(await probe(`http://upstream.example:${upstream.port}`, { timeoutMs: 500, resolver })).toEqual({
      kind: 'inconclusive',
      reason: 'this process was late',
      silences: [],
    });
  });

  test('is 40 % of the deadline, but at most 1.3 s', () => {
    expect([500, 3_000, 5_000, 60_000].map(silenceMs)).toEqual([200, 1_200, 1_300, 1_300]);
  });
});

test.each([
  [200, 'failed', 'an undocumented body'],
  [302, 'failed', 'HTTP status 302'],
  [400, 'inconclusive', 'HTTP status 400'],
  [401, 'refused', 'HTTP status 401'],
  [403, 'refused', 'HTTP status 403'],
  [404, 'refused', 'HTTP status 404'],
  [405, 'inconclusive', 'HTTP status 405'],
  [413, 'inconclusive', 'HTTP status 413'],
  [429, 'inconclusive', 'HTTP status 429'],
  [500, 'failed', 'HTTP status 500'],
  [502, 'failed', 'HTTP status 502'],
  [503, 'failed', 'HTTP status 503'],
])('an undocumented answer with status %i is %s', (status, kind, reason) => {
  expect(judgeStatus(status)).toEqual({ kind, reason });
});

describe('a probe without an answer', () => {
  test.each<[string, Behaviour]>([
    ['a reset', reset],
    ['a closed connection', closeConnection],
    ['something else than HTTP', bytes('nonsense\r\n\r\n')],
    ['half of an answer', bytes('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{')],
  ])('has failed after %s', async (_what, behave) => {
    const upstream = await startServer(behave);
    expect(await probe(upstream.url, { timeoutMs: 500 })).toMatchObject({ kind: 'failed' });
  });

  test('has failed if nothing listens at the address', async () => {
    const upstream = await startServer(hang);
    await upstream.stop();
    expect(await probe(upstream.url)).toMatchObject({ kind: 'failed', silences: [] });
  });

  test('shows that there is no such host, however long the look-up took', async () => {
    expect(await probe('http://upstream.example', { resolver: resolverOf(50, 'ENOTFOUND') })).toMatchObject({
      kind: 'no_such_host',
      reason: 'look-up ENOTFOUND',
    });
  });

  test.each(['EAI_AGAIN', 'EAI_FAIL', 'EBUSY', 'EMFILE', 'ENFILE', 'ENOMEM'])(
    'shows nothing if the look-up fails with %s',
    async (code) => {
      const result = await probe('http://upstream.example', { resolver: resolverOf(0, code) });
      expect(result).toMatchObject({ kind: 'inconclusive', silences: [] });
    },
  );

  test('blames us for a certificate that we do not accept: an unknown issuer, another host, one that has expired', async () => {
    const day = 24 * 60 * 60 * 1000;
    const at = (from: number, to: number) => ({
      notBefore: new Date(Date.now() + from * day),
      notAfter: new Date(Date.now() + to * day),
    });
    const start = async (host: string, from: number, to: number) => {
      const tls = makeCertificate({ host, ...at(from, to) });
      return { tls, upstream: await startServer(answer(200, '{}'), { tls }) };
    };
    const good = await start('localhost', -1, 1);
    const unknown = await start('localhost', -1, 1);
    const otherHost = await start('other.example', -1, 1);
    const expired = await start('localhost', -3, -2);
    const usual = getCACertificates('default');
    setDefaultCACertificates([...usual, ...[good, otherHost, expired].map(({ tls }) => tls.cert)]);
    onTestFinished(() => setDefaultCACertificates(usual));
    const resolver = new Resolver();
    onTestFinished(() => resolver.close());
    expect(await probe(good.upstream.url, { resolver })).toMatchObject({ kind: 'well' });
    for (const { upstream } of [unknown, otherHost, expired]) {
      expect(await probe(upstream.url, { resolver })).toMatchObject({ kind: 'refused' });
    }
  });
});

test('a late answer that shows something is used, although the event loop lagged', async () => {
  let lagMs = 0;
  const upstream = await startServer((exchange) => void setTimeout(answer(503, ''), 300, exchange));
  const result = probe(upstream.url, { totalLagMs: () => lagMs });
  await sleep(10);
  lagMs = 400;
  expect(await result).toMatchObject({ kind: 'failed', reason: 'HTTP status 503' });
});
