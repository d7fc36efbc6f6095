import { describe, expect, test } from 'vitest';
import type { UpstreamMetrics } from '../../src/upstream/metrics.ts';
import { startHostile } from '../support/hostile.ts';
import { untilEnd } from '../support/until-end.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { asIs, createContext, createTestClient, down, probeOf, requestTo, type TestOptions } from './support.ts';

/** The client of one upstream service: how a call that nobody waits for any more ends, what is late, and its accounts. */

/** An upstream that answers with this status; without one it never answers. */
const start = (status?: number) =>
  untilEnd(startUpstream((_received, response) => (status ? sendJson(response, status, {}) : undefined)));

/** A client, with the calls that it has reported. */
function startClient(options: Omit<TestOptions, 'metrics'> = {}) {
  const reports: [region: string | undefined, outcome: string][] = [];
  const recordCall: UpstreamMetrics['recordCall'] = ({ region, outcome }) => void reports.push([region, outcome]);
  const client = createTestClient({ ...options, metrics: { recordCall } });
  return { client, reports };
}

describe('a call is reported once, with its span', () => {
  function createTracedContext() {
    const spans: string[] = [];
    return { spans, context: createContext((outcome) => void spans.push(outcome)) };
  }

  test('a cancellation ends every call of the operation, and each is reported once with its span', async () => {
    const upstream = await start();
    const { client, reports } = startClient();
    const { context, spans } = createTracedContext();
    const outcomes = Promise.allSettled([1, 2].map(() => client.call(requestTo(upstream.url, context), asIs)));
    await expect.poll(() => upstream.received.length).toBe(2);
    context.cancel();
    expect(await outcomes).toMatchObject([{ reason: { message: 'disconnected' } }, { status: 'rejected' }]);
    expect([context.calls.length, spans]).toEqual([2, ['CANCELLED', 'CANCELLED']]);
    expect(reports).toEqual(Array(2).fill(['GLB', 'CANCELLED']));
  });

  test('a call is not reported if its operation was cancelled before', async () => {
    const upstream = await start(200);
    const { client, reports } = startClient();
    const { context, spans } = createTracedContext();
    context.cancel();
    await expect(client.call(requestTo(upstream.url, context), asIs)).rejects.toThrow('disconnected');
    expect(upstream.received).toEqual([]);
    expect([context.calls, spans, reports]).toEqual([[], [], []]);
  });
});

test('a full queue takes no trial call in an outage: whoever asks hears of the outage', async () => {
  const [upstream, failing] = [await start(), await untilEnd(startHostile(down, { probe: down }))];
  const { client } = startClient({ upstreamMaxInFlight: 1, probes: [probeOf(failing.url)] });
  const [early, late] = [createContext(), createContext()];
  const underWay = Promise.allSettled([1, 2].map(() => client.call(requestTo(upstream.url, early), asIs)));
  await expect.poll(() => upstream.received.length).toBeGreaterThan(0);
  client.health.requestProbe('a');
  await expect.poll(() => client.health.accounts.get('a')?.status.state).toBe('outage');
  for (let n = 0; n < 3; n += 1)
    await expect(client.call(requestTo(upstream.url, late), asIs)).rejects.toMatchObject({ why: 'outage' });
  early.cancel();
  await underWay;
});

test('a call that is late is OVERLOADED if a lag of ours delayed its request by a quarter of the deadline; a later lag excuses nothing', async () => {
  const upstream = await start();
  // The first reading of the lag is at the begin of the call, the second one when it was sent.
  const codeWith = (lagUntilSent: number, timeoutMs: number, lagAtEnd = lagUntilSent) => {
    const readings = [0, lagUntilSent];
    const { client } = startClient({ timeoutMs, eventLoop: { totalLagMs: () => readings.shift() ?? lagAtEnd } });
    return client.call(requestTo(upstream.url, createContext()), asIs).catch((error: { code: string }) => error.code);
  };
  // A busy machine makes the call later than its deadline, and a quarter of that is more.
  expect(await Promise.all([codeWith(900, 1_200), codeWith(299, 1_200), codeWith(0, 1_200, 60_000)])).toEqual([
    'OVERLOADED',
    'UPSTREAM_TIMEOUT',
    'UPSTREAM_TIMEOUT',
  ]);
  // With a short deadline half of it is enough.
  expect(await Promise.all([codeWith(300, 400), codeWith(150, 400)])).toEqual(['OVERLOADED', 'UPSTREAM_TIMEOUT']);
});

test('a confirmed outage of an account ends its calls in the queue and the later ones but one a second, and no call of others', async () => {
  const failing = await start(503);
  const working = await start(200);
  const upstream = await start();
  const probes = [probeOf(failing.url), probeOf(working.url, 'b')];
  const { client } = startClient({ probes, upstreamMaxInFlight: 3 });
  const first = createContext();
  const post = (account: string, context = createContext()) =>
    client.call(requestTo(upstream.url, context, account), asIs);
  const held = post('a', first);
  for (const _held of [1, 2]) post('b').catch(() => {});
  const [queuedOfA, queuedOfB] = [post('a'), post('b')];
  queuedOfB.catch(() => {});

  client.health.requestProbe('a');
  await expect.poll(() => client.health.accounts.get('a')?.status.state).toBe('outage');
  first.cancel();
  await expect(held).rejects.toThrow('disconnected');
  // Its caller could cancel it, so it is not the one of this second, which comes later and waits in the queue.
  await expect(queuedOfA).rejects.toMatchObject({ why: 'outage' });
  post('a').catch(() => {});
  await expect(post('a')).rejects.toMatchObject({ why: 'outage', code: 'UPSTREAM_UNAVAILABLE' });
  // The first call of `a` and those of `b` were sent, and no other one.
  await expect.poll(() => upstream.received.length).toBe(4);
});

test('a trial that a limit of ours stops gives its turn to the next one', async () => {
  const failing = await start(503);
  const upstream = await start();
  const { client } = startClient({ probes: [probeOf(failing.url)], upstreamMaxInFlight: 1, timeoutMs: 400 });
  const post = (account: string) => client.call(requestTo(upstream.url, createContext(), account), asIs);
  client.health.requestProbe('a');
  await expect.poll(() => client.health.accounts.get('a')?.status.state).toBe('outage');
  const held = post('b').catch(() => {});
  // It waits in the queue for as long as it may.
  await expect(post('a')).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(client.health.admit('a').isTrial).toBe(true);
  expect(() => client.health.admit('a')).toThrow();
  await held;
});
