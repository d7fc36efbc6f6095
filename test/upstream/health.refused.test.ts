import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, test } from 'vitest';
import type { Lookup } from '../../src/runtime/dns.ts';
import { answer } from '../support/hostile.ts';
import { accountStarter, gapsOf, inTurn, well } from './probed-account.ts';

/** What probes show about an account that is refused, or whose host is unknown. The tests run side by side, because they mostly wait. */

const { startAccount, stop } = accountStarter();
afterAll(stop);

describe.concurrent('a host name that does not exist', () => {
  const lookup: Lookup = (_hostname, done) =>
    void setTimeout(done, 20, Object.assign(new Error(), { code: 'ENOTFOUND' }), []);

  test('is a wrong address if the account has never worked', async ({ expect }) => {
    const { changes, health, stateIs } = await startAccount(well, { lookup });
    health.doubt();
    await expect.poll(stateIs).toBe('refused');
    expect(changes).toEqual(['refused: look-up ENOTFOUND']);
  });

  test('is an outage if the account has worked', async ({ expect }) => {
    const { changes, health, stateIs } = await startAccount(well, { lookup });
    health.recordAnswer();
    health.doubt();
    await expect.poll(stateIs).toBe('outage');
    expect(changes).toEqual(['well', 'outage: look-up ENOTFOUND']);
  });
});

describe.concurrent('an account that is refused', () => {
  test('is asked again after 10 s', async ({ expect }) => {
    const { sentAt, changes, health, stateIs } = await startAccount(inTurn(answer(403, ''), well));
    health.doubt();
    await expect.poll(stateIs).toBe('refused');
    await expect.poll(stateIs, { timeout: 15_000 }).toBe('well');
    expect(changes).toEqual(['refused: HTTP status 403', 'well']);
    const [gap = 0] = gapsOf(sentAt);
    expect(gap).toBeGreaterThan(9_990);
    expect(gap).toBeLessThan(12_000);
  });

  test('is asked at most once in 300 ms, however many doubts there are', async ({ expect }) => {
    const { sentAt, health, stateIs } = await startAccount(answer(401, ''));
    health.doubt();
    await expect.poll(stateIs).toBe('refused');
    for (const end = performance.now() + 1_500; performance.now() < end; await sleep(2)) health.doubt();
    expect(sentAt.length).toBeLessThanOrEqual(6);
    expect(Math.min(...gapsOf(sentAt))).toBeGreaterThanOrEqual(295);
  });

  test('is asked again at a doubt', async ({ expect }) => {
    const { sentAt, health, stateIs } = await startAccount(inTurn(answer(401, ''), well));
    health.doubt();
    await expect.poll(stateIs).toBe('refused');
    health.doubt();
    await expect.poll(stateIs).toBe('well');
    expect(Math.min(...gapsOf(sentAt))).toBeGreaterThanOrEqual(300);
  });

  test('is not in an outage, so calls are sent', async ({ expect }) => {
    const { health, stateIs } = await startAccount(answer(404, ''));
    health.doubt();
    await expect.poll(stateIs).toBe('refused');
    expect(() => health.check()).not.toThrow();
  });
});
