import { expect, onTestFinished, test, vi } from 'vitest';
import { Quota, type QuotaLimits } from '../../src/upstream/quota.ts';
import { answer, type Behaviour } from '../support/hostile.ts';
import { accountStarter, down, inTurn, well } from './support.ts';

/** What depends on minutes and days. The clock is a fake one, or its long waits are short. */

function createQuota(limits: QuotaLimits) {
  const refused: string[] = [];
  const recordQuotaRefusal = (_service: string, window: string) => void refused.push(window);
  return { quota: new Quota('test', limits, undefined, { recordQuotaRefusal }), refused };
}

test('a wall clock that is set forward or back neither gives a new quota nor blocks one', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { quota } = createQuota({ perSecond: 2, perDay: 4 });
  const takeTwo = () => Promise.all([quota.take('a'), quota.take('a')]);
  await takeTwo();
  vi.setSystemTime(Date.now() + 7 * 86_400_000);
  await expect(quota.take('a')).rejects.toThrow();
  vi.setSystemTime(0);
  vi.advanceTimersByTime(1_000);
  await takeTwo();
  vi.advanceTimersByTime(1_000);
  await expect(quota.take('a')).rejects.toThrow('used up');
  vi.advanceTimersByTime(86_400_000);
  await takeTwo();
});

test('a call that is refused in its second costs nothing of the day', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { quota, refused } = createQuota({ perSecond: 1, perDay: 2 });
  await quota.take('a');
  for (let i = 0; i < 10; i += 1) await expect(quota.take('a')).rejects.toThrow();
  expect(refused).toEqual(Array(10).fill('second'));
  expect(new Map(quota.states()).get('day')).toEqual({ limit: 2, left: 1 });
  vi.advanceTimersByTime(1_000);
  await quota.take('a');
  expect(new Map(quota.states()).get('day')).toEqual({ limit: 2, left: 0 });
});

/** Until the test ends, the waits between two probes take a thirtieth of their time. Gives those waits, in ms. */
function shortenWaits(): number[] {
  const { setTimeout: usual } = globalThis;
  const waits: number[] = [];
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((act, ms = 0, ...values) => {
    if (ms !== 1_000 && ms !== 10_000) return usual(act, ms, ...values);
    waits.push(ms);
    return usual(act, ms / 30, ...values);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return waits;
}

const { startAccount, stop } = accountStarter();
async function start(...behaviours: readonly Behaviour[]) {
  const account = await startAccount(inTurn(...behaviours));
  onTestFinished(async () => void (await stop()));
  account.health.requestProbe();
  return account;
}

test('in an outage a probe follows each second, and its first answer ends the outage', async () => {
  const waits = shortenWaits();
  const { changes, health, stateIs } = await start(down, down, down, down, well);
  await expect.poll(stateIs).toBe('well');
  expect(changes).toEqual(['outage: HTTP status 503', 'well']);
  expect(new Set(waits)).toEqual(new Set([1_000]));
  expect(health.admit()).toBe(false);
});

test('an outage is not confirmed any more after two probes in a row that cannot confirm it', async () => {
  shortenWaits();
  const limited = answer(429, '');
  const { changes, sentAt } = await start(down, down, limited, down, limited, limited);
  await expect.poll(() => changes).toEqual(['outage: HTTP status 503', 'unknown: HTTP status 429']);
  // One was not enough.
  expect(sentAt.length).toBeGreaterThanOrEqual(6);
});

test('an account that is refused is asked again after 10 s', async () => {
  const waits = shortenWaits();
  const { changes, stateIs } = await start(answer(403, ''), well);
  await expect.poll(stateIs).toBe('well');
  expect(changes).toEqual(['refused: HTTP status 403', 'well']);
  expect(new Set(waits)).toEqual(new Set([10_000]));
});
