import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, test } from 'vitest';
import { answer, type Behaviour, hang, startHostile } from '../support/hostile.ts';
import { accountStarter, down, probeOf, well } from './support.ts';

/** Waiting until probes have waited a doubt, a rotation, and the end of all probes. The tests run side by side. */

const refusing = answer(401, '');
/** Of an operation that is never cancelled. */
const { signal } = new AbortController();

const { startAccount, stop, closeLater } = accountStarter();
afterAll(stop);

/** Where the account is asked after a rotation. */
async function startServer(behave: Behaviour) {
  const upstream = await startHostile(behave);
  closeLater(upstream.stop);
  return upstream;
}

describe.concurrent('a wait', () => {
  test('ends with the answer of a probe, and a hundred waits need one probe', async ({ expect }) => {
    const { upstream, health } = await startAccount(well);
    const statuses = await Promise.all(Array.from({ length: 100 }, () => health.waitForProbes(5_000, signal)));
    expect(new Set(statuses.map(({ state }) => state))).toEqual(new Set(['well']));
    expect(upstream.requests).toBe(1);
  });

  test('of a well account ends with an answer that comes after its begin', async ({ expect }) => {
    const { upstream, health } = await startAccount(well);
    health.recordAnswer();
    expect(await health.waitForProbes(5_000, signal)).toMatchObject({ state: 'well' });
    expect(upstream.requests).toBe(1);
  });

  test('ends with the documented answer of a call', async ({ expect }) => {
    const { health } = await startAccount(hang, { timeoutMs: 30_000 });
    const waited = health.waitForProbes(30_000, signal);
    health.recordAnswer();
    expect(await waited).toMatchObject({ state: 'well' });
  });

  test('ends with a confirmed outage, and then nobody waits', async ({ expect }) => {
    const { upstream, health } = await startAccount(down);
    expect(await health.waitForProbes(5_000, signal)).toMatchObject({ state: 'outage', hasWorked: false });
    const sent = upstream.requests;
    expect(await health.waitForProbes(30_000, signal)).toMatchObject({ state: 'outage' });
    expect(upstream.requests).toBe(sent);
  });

  test('ends with a refusal', async ({ expect }) => {
    const { health } = await startAccount(refusing);
    expect(await health.waitForProbes(5_000, signal)).toMatchObject({ state: 'refused', reason: 'HTTP status 401' });
  });

  test.for<[string, Behaviour]>([
    ['get no answer', hang],
    ['are inconclusive', answer(429, '')],
  ])('ends after its time while probes %s, and then nothing is known', async ([, behave], { expect }) => {
    const { health } = await startAccount(behave, { timeoutMs: 10_000 });
    const begun = performance.now();
    expect(await health.waitForProbes(250, signal)).toMatchObject({ state: 'unknown' });
    expect(performance.now() - begun).toBeGreaterThanOrEqual(249);
  });

  test('without any time left ends at once, also if the account was well before', async ({ expect }) => {
    const { health } = await startAccount(hang);
    health.recordAnswer();
    expect(await health.waitForProbes(0, signal)).toEqual({ state: 'unknown', hasWorked: true, reason: '' });
  });

  test('ends when its operation is cancelled', async ({ expect }) => {
    const { health } = await startAccount(hang, { timeoutMs: 30_000 });
    const operation = new AbortController();
    const waited = health.waitForProbes(30_000, operation.signal);
    operation.abort();
    expect(await waited).toMatchObject({ state: 'unknown' });
  });
});

describe.concurrent('a rotation', () => {
  test('asks the new question, and drops the late answer to the old one', async ({ expect }) => {
    const late: Behaviour = (exchange) => void setTimeout(refusing, 200, exchange);
    const { upstream: old, changes, health, stateIs } = await startAccount(late, { timeoutMs: 5_000 });
    const next = await startServer(well);
    health.requestProbe();
    await expect.poll(() => old.requests).toBe(1);
    health.replaceProbe(probeOf(next.url));
    await expect.poll(stateIs).toBe('well');
    await sleep(200);
    expect([changes, old.requests, next.requests]).toEqual([['well'], 1, 1]);
  });

  test('drops that nobody answers the old question', async ({ expect }) => {
    const { upstream: old, changes, health } = await startAccount(hang);
    const next = await startServer(well);
    health.requestProbe();
    await expect.poll(() => old.requests).toBe(1);
    // The first connection has gone unanswered for long.
    await expect.poll(() => old.requests).toBe(2);
    health.replaceProbe(probeOf(next.url));
    await expect.poll(() => next.requests).toBe(1);
    await sleep(200);
    expect(changes).toEqual(['well']);
  });

  test('finds out that the new credentials are wrong', async ({ expect }) => {
    const { health, stateIs } = await startAccount(well);
    const next = await startServer(refusing);
    health.recordAnswer();
    health.replaceProbe(probeOf(next.url));
    await expect.poll(stateIs).toBe('refused');
  });
});

describe.concurrent('after close()', () => {
  test('no probe is sent in an outage, after a call or for a wait', async ({ expect }) => {
    const { upstream, health, stateIs } = await startAccount(down);
    health.requestProbe();
    await expect.poll(stateIs).toBe('outage');
    health.close();
    const sent = upstream.requests;
    health.requestProbe();
    // Longer than until the next probe of an outage.
    await sleep(1_100);
    expect(upstream.requests).toBe(sent);
  });

  test('the probe under way is aborted, and its socket closed', async ({ expect }) => {
    const { upstream, changes, health } = await startAccount(hang, { timeoutMs: 30_000 });
    health.requestProbe();
    await expect.poll(() => upstream.open).toBe(1);
    health.close();
    await expect.poll(() => upstream.open).toBe(0);
    expect(changes).toEqual([]);
  });
});
