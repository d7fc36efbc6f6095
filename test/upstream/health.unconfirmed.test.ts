import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, test } from 'vitest';
import type { Lookup } from '../../src/runtime/dns.ts';
import { answer, type Behaviour, hang } from '../support/hostile.ts';
import { accountStarter, down, inTurn, well } from './probed-account.ts';

/** What never confirms an outage. The tests run side by side, because they mostly wait. */

const { startAccount, stop } = accountStarter();
afterAll(stop);

describe.concurrent('no outage is confirmed', () => {
  test('by one connection that is lost', async ({ expect }) => {
    const { sentAt, changes, health, stateIs } = await startAccount(inTurn(hang, well));
    health.doubt();
    await expect.poll(stateIs).toBe('well');
    await sleep(1_000);
    expect([sentAt.length, changes]).toEqual([2, ['well']]);
  });

  test('by a service that is a little slower than silence', async ({ expect }) => {
    const slow: Behaviour = (exchange) => setTimeout(() => well(exchange), 1_350);
    const { changes, health, stateIs } = await startAccount(slow, { timeoutMs: 3_000 });
    health.doubt();
    await expect.poll(stateIs).toBe('well');
    await sleep(2_000);
    expect(changes).toEqual(['well']);
  });

  test('if a call gets its answer between two failed probes', async ({ expect }) => {
    const { upstream, changes, health } = await startAccount(inTurn(down, down, well));
    health.recordAnswer();
    health.doubt();
    await expect.poll(() => upstream.requests).toBe(1);
    await sleep(100);
    health.recordAnswer();
    await expect.poll(() => upstream.requests).toBe(2);
    await sleep(100);
    expect(changes).toEqual(['well']);
  });

  test('if a call gets its answer while the failing probe is under way', async ({ expect }) => {
    const late: Behaviour = (exchange) => void setTimeout(down, 200, exchange);
    const { upstream, changes, health } = await startAccount(inTurn(down, late, well));
    health.doubt();
    await expect.poll(() => upstream.requests).toBe(2);
    health.recordAnswer();
    await sleep(500);
    expect(changes).toEqual(['well']);
  });

  test('if a call gets its answer while a probe meets silence', async ({ expect }) => {
    const { upstream, changes, health } = await startAccount(hang, { timeoutMs: 500 });
    health.doubt();
    await expect.poll(() => upstream.requests).toBe(1);
    health.recordAnswer();
    await sleep(700);
    expect([upstream.requests, changes]).toEqual([1, ['well']]);
  });

  test('if an inconclusive probe lies between two failed ones', async ({ expect }) => {
    const { changes, health, stateIs } = await startAccount(inTurn(down, answer(429, ''), down, well));
    health.doubt();
    await expect.poll(stateIs, { timeout: 10_000 }).toBe('well');
    expect(changes).toEqual(['unknown: HTTP status 429', 'well']);
  });

  test('by silence while the event loop lags', async ({ expect }) => {
    let lagMs = 0;
    const lagging: Behaviour = () => {
      lagMs += 300;
    };
    const { upstream, changes, health } = await startAccount(lagging, { timeoutMs: 1_000, totalLagMs: () => lagMs });
    health.doubt();
    await expect.poll(() => upstream.requests, { timeout: 5_000 }).toBe(2);
    expect(changes).toEqual(['unknown: this process was late']);
  });

  test.for(['EAI_AGAIN', 'EMFILE', 'ENOMEM'])('by look-ups that fail with %s', async (code, { expect }) => {
    const lookup: Lookup = (_hostname, done) => void setImmediate(done, Object.assign(new Error(), { code }), []);
    const { upstream, changes, health } = await startAccount(well, { lookup });
    health.recordAnswer();
    health.doubt();
    await sleep(1_300);
    expect([upstream.requests, changes]).toEqual([0, ['well']]);
  });
});
