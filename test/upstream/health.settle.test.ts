import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Resolver } from '../../src/runtime/dns.ts';
import { AccountHealth } from '../../src/upstream/health.ts';
import { answer, type Behaviour, hang, startHostile } from '../support/hostile.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { probeOf } from './support.ts';

/** Waiting until probes have settled a doubt, a rotation, and the end of all probes. */

const well = answer(200, '{}');
const down = answer(503, '');
const refusing = answer(401, '');
const ignore = () => {};

async function startServer(behave: Behaviour) {
  const upstream = await startHostile(behave);
  onTestFinished(upstream.stop);
  return upstream;
}

async function start(behave: Behaviour, timeoutMs = 1_000) {
  const upstream = await startServer(behave);
  const changes: string[] = [];
  const tools = { resolver: new Resolver(), eventLoop: { totalLagMs: () => 0 }, timeoutMs };
  const health = new AccountHealth('a', probeOf(upstream.url), tools, ({ finding }) => changes.push(finding.state));
  onTestFinished(() => health.close());
  return { upstream, changes, health, stateIs: () => health.finding.state };
}

describe('a wait', () => {
  test('ends with the answer of a probe, and a hundred waits need one probe', async () => {
    const { upstream, health } = await start(well);
    const findings = await Promise.all(Array.from({ length: 100 }, () => health.settle(5_000, ignore)));
    expect(new Set(findings.map(({ state }) => state))).toEqual(new Set(['well']));
    expect(upstream.requests).toBe(1);
  });

  test('of a well account ends with an answer that comes after its begin', async () => {
    const { upstream, health } = await start(well);
    health.recordAnswer();
    expect(await health.settle(5_000, ignore)).toMatchObject({ state: 'well' });
    expect(upstream.requests).toBe(1);
  });

  test('ends with the documented answer of a call', async () => {
    const { health } = await start(hang, 30_000);
    const settled = health.settle(30_000, ignore);
    health.recordAnswer();
    expect(await settled).toMatchObject({ state: 'well' });
  });

  test('ends with a confirmed outage, and then nobody waits', async () => {
    const { upstream, health } = await start(down);
    expect(await health.settle(5_000, ignore)).toMatchObject({ state: 'outage', hasWorked: false });
    const sent = upstream.requests;
    const elapsed = startStopwatch();
    expect(await health.settle(5_000, ignore)).toMatchObject({ state: 'outage' });
    expect(elapsed()).toBeLessThan(100);
    expect(upstream.requests).toBe(sent);
  });

  test('ends with a refusal', async () => {
    const { health } = await start(refusing);
    expect(await health.settle(5_000, ignore)).toMatchObject({ state: 'refused', reason: 'HTTP status 401' });
  });

  test.each<[string, Behaviour]>([
    ['meet silence', hang],
    ['are inconclusive', answer(429, '')],
  ])('ends after its time while probes %s, and then nothing is known', async (_how, behave) => {
    const { health } = await start(behave, 10_000);
    const elapsed = startStopwatch();
    const begun = performance.now();
    expect(await health.settle(250, ignore)).toMatchObject({ state: 'unknown' });
    expect(performance.now() - begun).toBeGreaterThanOrEqual(249);
    expect(elapsed()).toBeLessThan(400);
  });

  test('without any time left ends at once, also if the account was well before', async () => {
    const { health } = await start(hang);
    health.recordAnswer();
    expect(await health.settle(0, ignore)).toEqual({ state: 'unknown', hasWorked: true, reason: '' });
  });

  test('ends when its operation is cancelled', async () => {
    const { health } = await start(hang, 30_000);
    let cancel = ignore;
    const settled = health.settle(30_000, (end) => {
      cancel = end;
    });
    cancel();
    expect(await settled).toMatchObject({ state: 'unknown' });
  });
});

describe('a rotation', () => {
  test('asks the new question, and drops the late answer to the old one', async () => {
    const late: Behaviour = (exchange) => void setTimeout(refusing, 400, exchange);
    const { upstream: old, changes, health, stateIs } = await start(late, 5_000);
    const next = await startServer(well);
    health.doubt();
    await expect.poll(() => old.requests).toBe(1);
    health.replaceProbe(probeOf(next.url));
    await expect.poll(stateIs).toBe('well');
    expect([changes, old.requests, next.requests]).toEqual([['well'], 1, 1]);
  });

  test('drops the silence that the old question meets', async () => {
    const { upstream: old, changes, health } = await start(hang, 1_000);
    const next = await startServer(well);
    health.doubt();
    await expect.poll(() => old.requests).toBe(1);
    health.replaceProbe(probeOf(next.url));
    await expect.poll(() => next.requests).toBe(1);
    await sleep(50);
    expect(changes).toEqual(['well']);
  });

  test('does not wait until a refused account is asked again', async () => {
    const { health, stateIs } = await start(refusing);
    const next = await startServer(well);
    health.doubt();
    await expect.poll(stateIs).toBe('refused');
    health.replaceProbe(probeOf(next.url));
    await expect.poll(stateIs).toBe('well');
  });

  test('finds out that the new credentials are wrong', async () => {
    const { health, stateIs } = await start(well);
    const next = await startServer(refusing);
    health.recordAnswer();
    health.replaceProbe(probeOf(next.url));
    await expect.poll(stateIs).toBe('refused');
  });
});

describe('after close()', () => {
  test('no probe is sent in an outage, at a doubt or for a wait', async () => {
    const { upstream, health, stateIs } = await start(down);
    health.doubt();
    await expect.poll(stateIs).toBe('outage');
    health.close();
    const sent = upstream.requests;
    health.doubt();
    await sleep(1_300);
    expect(upstream.requests).toBe(sent);
  });

  test('the probe under way is aborted, and its socket closed', async () => {
    const { upstream, changes, health } = await start(hang, 30_000);
    health.doubt();
    await expect.poll(() => upstream.open).toBe(1);
    health.close();
    await expect.poll(() => upstream.open).toBe(0);
    expect(changes).toEqual([]);
  });
});
