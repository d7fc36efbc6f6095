import { describe, expect, test } from 'vitest';
import { closedLoop, openLoop } from './loops.ts';

describe('load', () => {
  test('in a closed loop a request follows an answer', async () => {
    let underWay = 0;
    let most = 0;
    const send = async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay -= 1;
    };
    const { latencies, seconds } = await closedLoop(send, 3, 50);
    expect([most, underWay]).toEqual([3, 0]);
    expect(latencies.length).toBeGreaterThanOrEqual(3);
    expect(seconds).toBeGreaterThanOrEqual(0.05);
  });

  test('paced load does not wait for answers, and counts the delay of one that was late', async () => {
    let sent = 0;
    const allSent = Promise.withResolvers<void>();
    const send = async () => {
      sent += 1;
      if (sent === 20) allSent.resolve();
      await allSent.promise;
    };
    const { latencies } = await openLoop(send, 200, 100);
    expect(latencies).toHaveLength(20);
    // The first one waited for the last one, which was due 95 ms later.
    expect(Math.max(...latencies)).toBeGreaterThanOrEqual(94);
  });

  test.each([
    ['closed', (send: () => Promise<void>) => closedLoop(send, 2, 1_000)],
    ['paced', (send: () => Promise<void>) => openLoop(send, 100, 1_000)],
  ])('%s load fails with the first request that does', async (_name, loop) => {
    await expect(loop(async () => Promise.reject(new Error('wrong')))).rejects.toThrow('wrong');
  });
});
