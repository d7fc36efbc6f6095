import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, test } from 'vitest';
import { answer, type Behaviour, hang, type RawRequest } from '../support/hostile.ts';
import { accountStarter, down, inTurn, shortestGap, well } from './support.ts';

/**
 * What probes show about an account: that it works, that its service is down, that it is refused, or nothing. The tests run
 * side by side, because they mostly wait.
 */

const { startAccount, stop } = accountStarter();
afterAll(stop);

/** Two probes are 300 ms apart, and timers are allowed to be a little early. */
const APART_MS = 290;

test.concurrent('an account is well with one probe for each 300 ms, however many calls fail', async ({ expect }) => {
  const { sentAt, changes, health } = await startAccount(well);
  const until = performance.now() + 1_000;
  while (performance.now() < until) {
    health.startProbes();
    await sleep(1);
  }
  expect(changes).toEqual(['well']);
  expect(sentAt.length).toBeGreaterThan(1);
  expect(shortestGap(sentAt)).toBeGreaterThan(APART_MS);
});

describe.concurrent('an outage', () => {
  test('an outage is confirmed by two failed probes with 300 ms between them, and not by one', async ({ expect }) => {
    const states: string[] = [];
    const { sentAt, changes, health, stateIs } = await startAccount((exchange) => {
      states.push(stateIs());
      down(exchange);
    });
    health.startProbes();
    await expect.poll(stateIs).toBe('outage');
    expect(shortestGap(sentAt)).toBeGreaterThan(APART_MS);
    expect([states.slice(0, 2), changes]).toEqual([['unknown', 'unknown'], ['outage: HTTP status 503']]);
    expect(health.admit()).toBe(true);
    expect(() => health.admit()).toThrow(expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }));
  });

  test('an outage goes on after a lag of our own, which spoils every probe that is under way', async ({ expect }) => {
    let lagMs = 0;
    const options = { timeoutMs: 2_500, totalLagMs: () => lagMs };
    const { sentAt, changes, health, stateIs } = await startAccount(inTurn(down, down, hang), options);
    health.startProbes();
    await expect.poll(stateIs).toBe('outage');
    await expect.poll(() => sentAt.length).toBeGreaterThanOrEqual(4);
    lagMs = 1_000;
    await expect.poll(() => sentAt.length).toBeGreaterThanOrEqual(7);
    expect([changes, health.status.reason]).toEqual([['outage: HTTP status 503'], 'HTTP status 503']);
  });

  test('an outage ends at once with the documented answer of a call, and its time does not count', async ({
    expect,
  }) => {
    const { health, stateIs } = await startAccount(down);
    health.startProbes();
    await expect.poll(stateIs).toBe('outage');
    const before = health.msWithoutOutages;
    await sleep(100);
    expect(health.msWithoutOutages).toBe(before);
    health.recordResponse();
    expect(stateIs()).toBe('well');
    expect(performance.now() - health.msWithoutOutages).toBeGreaterThan(90);
  });
});

describe.concurrent('no outage is confirmed', () => {
  test('no outage is confirmed by one connection that is lost', async ({ expect }) => {
    const { sentAt, changes, health, stateIs } = await startAccount(inTurn(hang, well));
    health.startProbes();
    await expect.poll(stateIs).toBe('well');
    await sleep(200);
    expect([sentAt.length, changes]).toEqual([2, ['well']]);
  });

  test('no outage is confirmed if a call gets its answer between two failed probes', async ({ expect }) => {
    const answered = Promise.withResolvers<void>();
    const first: Behaviour = (exchange) => {
      down(exchange);
      setTimeout(answered.resolve, 100);
    };
    const { upstream, changes, health } = await startAccount(inTurn(first, down, well));
    health.recordResponse();
    health.startProbes();
    await answered.promise;
    health.recordResponse();
    health.startProbes();
    await expect.poll(() => upstream.requests).toBe(3);
    await sleep(100);
    expect(changes).toEqual(['well']);
  });

  test('no outage is confirmed if a call gets its answer while the failing probe is under way', async ({ expect }) => {
    const held: RawRequest[] = [];
    const hold: Behaviour = (exchange) => void held.push(exchange);
    const { upstream, changes, health } = await startAccount(inTurn(down, hold, down, well));
    health.startProbes();
    await expect.poll(() => held.length).toBe(1);
    health.recordResponse();
    held.forEach(down);
    await sleep(500);
    // What failed before that answer does not count together with what fails later.
    health.startProbes();
    await expect.poll(() => upstream.requests).toBe(4);
    expect(changes).toEqual(['well']);
  });

  test('no outage is confirmed if a call gets its answer while a probe is unanswered', async ({ expect }) => {
    const answerOfCall = () => {
      health.recordResponse();
    };
    const { upstream, changes, health } = await startAccount(answerOfCall, { timeoutMs: 500 });
    health.startProbes();
    await expect.poll(() => changes).toEqual(['well']);
    await sleep(700);
    expect([upstream.requests, changes]).toEqual([1, ['well']]);
  });
});

test.concurrent('an account that is refused is asked once more after any number of calls, and the time until then does not count', async ({
  expect,
}) => {
  const { sentAt, health, stateIs } = await startAccount(inTurn(answer(401, ''), answer(401, ''), well));
  health.startProbes();
  await expect.poll(stateIs).toBe('refused');
  const before = health.msWithoutOutages;
  await sleep(100);
  expect(health.msWithoutOutages).toBe(before);
  // The first two probes follow each other without a call.
  await expect.poll(() => sentAt.length).toBe(2);
  for (let call = 0; call < 50; call += 1) health.startProbes();
  // Without a call it is asked after 10 s.
  await expect.poll(stateIs, { timeout: 9_000 }).toBe('well');
  expect(shortestGap(sentAt)).toBeGreaterThan(APART_MS);
});
