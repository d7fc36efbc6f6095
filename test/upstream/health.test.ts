import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, test } from 'vitest';
import { answer, hang } from '../support/hostile.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { accountStarter, down, gapsOf, inTurn, well } from './probed-account.ts';

/** What probes show about an account that works, or whose service is down. The tests run side by side, because they mostly wait. */

const { startAccount, stop } = accountStarter();
afterAll(stop);

describe.concurrent('an account is well', () => {
  test('once a probe gets its answer, and then no further probe is sent', async ({ expect }) => {
    const { upstream, changes, health } = await startAccount(well);
    expect(health.finding).toEqual({ state: 'unknown', hasWorked: false, reason: '' });
    health.doubt();
    await expect.poll(() => health.finding).toEqual({ state: 'well', hasWorked: true, reason: '' });
    await sleep(700);
    expect([upstream.requests, changes]).toEqual([1, ['well']]);
  });

  test('after one failed probe and an answer', async ({ expect }) => {
    const { upstream, changes, health, stateIs } = await startAccount(inTurn(down, well));
    health.doubt();
    await expect.poll(stateIs).toBe('well');
    expect([upstream.requests, changes]).toEqual([2, ['well']]);
  });

  test('however many doubts there are, with one probe for each 300 ms', async ({ expect }) => {
    const { sentAt, changes, health } = await startAccount(well);
    const until = performance.now() + 1_000;
    while (performance.now() < until) {
      health.doubt();
      await sleep(1);
    }
    expect(changes).toEqual(['well']);
    expect(sentAt.length).toBeGreaterThan(1);
    expect(Math.min(...gapsOf(sentAt))).toBeGreaterThanOrEqual(300);
  });
});

describe.concurrent('an outage', () => {
  test('is confirmed by two failed probes with 300 ms between them, and not by one', async ({ expect }) => {
    const { upstream, sentAt, changes, health, stateIs } = await startAccount(down);
    health.doubt();
    await expect.poll(() => upstream.requests).toBe(1);
    expect(stateIs()).toBe('unknown');
    await expect.poll(stateIs).toBe('outage');
    expect(Math.min(...gapsOf(sentAt))).toBeGreaterThanOrEqual(300);
    expect([upstream.requests, changes]).toEqual([2, ['outage: HTTP status 503']]);
    expect(() => health.check()).toThrow(expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }));
  });

  test('is confirmed by silence for 40 % of the deadline, and again on a second connection', async ({ expect }) => {
    const { sentAt, changes, health, stateIs } = await startAccount(hang);
    const elapsed = startStopwatch();
    health.doubt();
    await expect.poll(stateIs, { interval: 5 }).toBe('outage');
    expect(performance.now() - (sentAt[0] ?? 0)).toBeGreaterThan(400);
    expect(elapsed()).toBeLessThan(2_000);
    expect(sentAt).toHaveLength(2);
    expect(changes).toEqual(['outage: no answer within 160 ms']);
  });

  test('is found after 1.8 s of silence on two connections, however long the deadline is', async ({ expect }) => {
    const { changes, health, stateIs } = await startAccount(hang, { timeoutMs: 30_000 });
    const elapsed = startStopwatch();
    health.doubt();
    await expect.poll(stateIs, { interval: 5 }).toBe('outage');
    expect(elapsed()).toBeLessThan(3_100);
    expect(changes).toEqual(['outage: no answer within 520 ms']);
  });

  test('ends with the first answer of a probe, which follows each second', async ({ expect }) => {
    const { sentAt, changes, health, stateIs } = await startAccount(inTurn(down, down, down, down, well));
    health.doubt();
    await expect.poll(stateIs, { timeout: 10_000 }).toBe('well');
    expect(changes).toEqual(['outage: HTTP status 503', 'well']);
    const [, ...inOutage] = gapsOf(sentAt);
    expect(inOutage).toHaveLength(3);
    expect(Math.min(...inOutage)).toBeGreaterThan(990);
    expect(() => health.check()).not.toThrow();
  });

  test('ends at once with the documented answer of a call', async ({ expect }) => {
    const { health, stateIs } = await startAccount(down);
    health.doubt();
    await expect.poll(stateIs).toBe('outage');
    health.recordAnswer();
    expect(stateIs()).toBe('well');
  });

  test('that three probes in a row cannot confirm is not confirmed any more, and two are not enough', async ({
    expect,
  }) => {
    const limited = answer(429, '');
    const { sentAt, changes, health, stateIs } = await startAccount(
      inTurn(down, down, limited, limited, down, limited, limited, limited),
    );
    health.doubt();
    await expect.poll(stateIs).toBe('outage');
    await expect.poll(stateIs, { timeout: 15_000 }).toBe('unknown');
    expect(changes).toEqual(['outage: HTTP status 503', 'unknown: HTTP status 429']);
    expect(sentAt).toHaveLength(8);
  });

  test('in which probes hang ends soon after the service answers again', async ({ expect }) => {
    const { health, stateIs } = await startAccount(inTurn(hang, hang, hang, well), { timeoutMs: 1_000 });
    health.doubt();
    await expect.poll(stateIs).toBe('outage');
    await expect.poll(stateIs, { timeout: 10_000 }).toBe('well');
  });
});
