import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, test } from 'vitest';
import { DeviceTrustError } from '../../src/errors.ts';
import { type Behaviour, hang, type RawRequest } from '../support/hostile.ts';
import { accountStarter, down, inTurn, refusing, shortestGap, well } from './support.ts';

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
    health.requestProbe('a');
    await sleep(1);
  }
  expect(changes).toEqual(['well']);
  expect(sentAt.length).toBeGreaterThan(1);
  expect(shortestGap(sentAt)).toBeGreaterThan(APART_MS);
});

describe.concurrent('an outage', () => {
  test('an outage is confirmed by two failed probes with 300 ms between them, and not by one', async ({ expect }) => {
    const states: unknown[] = [];
    const { sentAt, changes, health, stateIs } = await startAccount((exchange) => {
      states.push(stateIs());
      down(exchange);
    });
    health.requestProbe('a');
    await expect.poll(stateIs).toBe('outage');
    expect(shortestGap(sentAt)).toBeGreaterThan(APART_MS);
    expect([states.slice(0, 2), changes]).toEqual([['unknown', 'unknown'], ['outage: HTTP status 503']]);
    expect(health.admit('a').isTrial).toBe(true);
    expect(() => health.admit('a')).toThrow(expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }));
  });

  test('an outage takes one failed probe more for each that an answer has contradicted within a minute', async ({
    expect,
  }) => {
    const { sentAt, changes, health, stateIs } = await startAccount(inTurn(down, well, down, well, down));
    for (const sent of [2, 4]) {
      health.requestProbe('a');
      await expect.poll(stateIs).toBe('well');
      await expect.poll(() => sentAt.length).toBe(sent);
    }
    health.requestProbe('a');
    await expect.poll(() => changes.at(-1)).toBe('outage: HTTP status 503');
    expect(sentAt.length).toBeGreaterThanOrEqual(4 + 2 + 2);
  });

  test('an outage goes on while a lag of our own delays every probe', async ({ expect }) => {
    let [lagMs, stepMs] = [0, 0];
    const totalLagMs = () => {
      lagMs += stepMs;
      return lagMs;
    };
    const behave = inTurn(down, down, hang);
    const { sentAt, changes, health, statusOf, stateIs } = await startAccount(behave, { timeoutMs: 1_500, totalLagMs });
    health.requestProbe('a');
    await expect.poll(stateIs).toBe('outage');
    // Between its begin and its sending, the clock of each probe goes on by this.
    stepMs = 1_000;
    const sent = sentAt.length;
    await expect.poll(() => sentAt.length).toBeGreaterThanOrEqual(sent + 4);
    expect([changes, statusOf()?.reason]).toEqual([['outage: HTTP status 503'], 'HTTP status 503']);
  });

  test('an outage admits a trial again that a limit of our own has stopped before it was sent', async ({ expect }) => {
    const { health, stateIs } = await startAccount(down);
    health.requestProbe('a');
    await expect.poll(stateIs).toBe('outage');
    for (let stopped = 0; stopped < 50; stopped += 1)
      health.admit('a').fail(new DeviceTrustError('RATE_LIMITED'), false);
    expect(health.admit('a').isTrial).toBe(true);
  });

  test('an outage ends at once with the documented answer of a call', async ({ expect }) => {
    const { health, stateIs } = await startAccount(down);
    health.requestProbe('a');
    await expect.poll(stateIs).toBe('outage');
    health.admit('a').settle('well');
    expect(stateIs()).toBe('well');
  });
});

describe.concurrent('no outage is confirmed', () => {
  test('no outage is confirmed by one connection that is lost', async ({ expect }) => {
    const { sentAt, changes, health, stateIs } = await startAccount(inTurn(hang, well));
    health.requestProbe('a');
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
    health.admit('a').settle('well');
    health.requestProbe('a');
    await answered.promise;
    health.admit('a').settle('well');
    health.requestProbe('a');
    await expect.poll(() => upstream.requests).toBe(3);
    await sleep(100);
    expect(changes).toEqual(['well']);
  });

  test('no outage is confirmed if a call gets its answer while the failing probe is under way', async ({ expect }) => {
    const held: RawRequest[] = [];
    const hold: Behaviour = (exchange) => void held.push(exchange);
    const { upstream, changes, health } = await startAccount(inTurn(down, hold, down, well));
    health.requestProbe('a');
    await expect.poll(() => held.length).toBe(1);
    health.admit('a').settle('well');
    held.forEach(down);
    await sleep(500);
    // What failed before that answer does not count together with what fails later.
    health.requestProbe('a');
    await expect.poll(() => upstream.requests).toBe(4);
    expect(changes).toEqual(['well']);
  });

  test('no outage is confirmed if a call gets its answer while a probe is unanswered', async ({ expect }) => {
    const answerOfCall = () => {
      health.admit('a').settle('well');
    };
    const { upstream, changes, health } = await startAccount(answerOfCall, { timeoutMs: 500 });
    health.requestProbe('a');
    await expect.poll(() => changes).toEqual(['well']);
    await sleep(700);
    expect([upstream.requests, changes]).toEqual([1, ['well']]);
  });
});

test.concurrent('an account that is refused is asked once more after any number of calls', async ({ expect }) => {
  const { sentAt, health, stateIs } = await startAccount(inTurn(refusing, refusing, well));
  health.requestProbe('a');
  await expect.poll(stateIs).toBe('refused');
  // The first two probes follow each other without a call.
  await expect.poll(() => sentAt.length).toBe(2);
  for (let call = 0; call < 50; call += 1) health.requestProbe('a');
  // Without a call it is asked after 10 s.
  await expect.poll(stateIs, { timeout: 9_000 }).toBe('well');
  expect(shortestGap(sentAt)).toBeGreaterThan(APART_MS);
});
