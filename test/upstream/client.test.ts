import { describe, expect, onTestFinished, test } from 'vitest';
import { Accounts } from '../../src/upstream/accounts.ts';
import { WELL } from '../../src/upstream/probe.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { createContext, createTestClient, probeOf, requestTo } from './support.ts';

/** The client of one upstream service: its accounts, a bulkhead for each region, and no call for an account that is down. */

async function start(status: number | undefined) {
  const upstream = await startUpstream((_received, response) => {
    if (status !== undefined) sendJson(response, status, {});
  });
  onTestFinished(upstream.stop);
  return upstream;
}

test('a region has a bulkhead from its first call on, and its calls count there alone', async () => {
  const upstream = await start(undefined);
  const client = createTestClient({ upstreamMaxInFlight: 1, upstreamMaxQueue: 1 });
  onTestFinished(client.close);
  const counts = () =>
    Object.fromEntries([...client.bulkheads()].map(([region, { inFlight, queued }]) => [region, [inFlight, queued]]));
  expect(counts()).toEqual({});

  const context = createContext();
  const post = (region: string) => client.post({ ...requestTo(upstream.url, context), region });
  const calls = Promise.allSettled([post('GLB'), post('GLB'), post('NA')]);
  await expect(post('GLB')).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(counts()).toEqual({ GLB: [1, 1], NA: [1, 0] });

  context.cancellation.cancel(new Error('disconnected'));
  expect(await calls).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }, { status: 'rejected' }]);
  await expect.poll(counts).toEqual({ GLB: [0, 0], NA: [0, 0] });
});

test('a hundred failed calls stop none of the next ones while the probes get their answers', async () => {
  const upstream = await start(503);
  const client = createTestClient({ probes: [['a', probeOf(upstream.url, () => WELL)]], upstreamMaxInFlight: 100 });
  onTestFinished(client.close);
  const post = () => client.post(requestTo(upstream.url, createContext()));
  await Promise.all(Array.from({ length: 100 }, post));
  client.health.find('a')?.doubt();
  await expect.poll(() => client.health.find('a')?.finding.state).toBe('well');
  expect(await post()).toMatchObject({ status: 503 });
});

test('a confirmed outage of an account ends its calls in the queue and the later ones, and no call of others', async () => {
  const failing = await start(503);
  const working = await start(200);
  const upstream = await start(undefined);
  const probes = [['a', probeOf(failing.url)] as const, ['b', probeOf(working.url)] as const];
  const client = createTestClient({ probes, upstreamMaxInFlight: 1 });
  onTestFinished(client.close);
  const first = createContext();
  const post = (account: string, context = createContext()) =>
    client.post({ ...requestTo(upstream.url, context), account });
  const held = post('a', first);
  const [queuedOfA, queuedOfB] = [post('a'), post('b')];
  queuedOfB.catch(() => {});

  client.health.find('a')?.doubt();
  await expect.poll(() => client.health.find('a')?.finding.state).toBe('outage');
  await expect(post('a')).rejects.toMatchObject({ name: 'OutageError', code: 'UPSTREAM_UNAVAILABLE' });
  first.cancellation.cancel(new Error('disconnected'));
  await expect(held).rejects.toThrow('disconnected');
  await expect(queuedOfA).rejects.toMatchObject({ name: 'OutageError' });
  // The first call of `a` and the one of `b` were sent, and no other one.
  await expect.poll(() => upstream.received.length).toBe(2);
});

describe('accounts', () => {
  interface Account {
    readonly id: string;
    readonly secret: string;
  }

  const A = { id: 'a', secret: 'old' };
  const B = { id: 'b', secret: 'old' };
  const accountsOf = (...accounts: Account[]) => new Accounts(({ id }: Account) => id, accounts);

  test.each([null, undefined])('without an id (%s) the first account serves', (id) => {
    const accounts = accountsOf(B, A);
    expect(accounts.find(id)).toBe(B);
    expect(accounts.default).toBe(B);
  });

  test('an account is found by its id, and an unknown id has no account, not even the first one', () => {
    const accounts = accountsOf(A, B);
    expect(['a', 'b', '', 'c', '__proto__'].map((id) => accounts.find(id))).toEqual([
      A,
      B,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('without accounts there is no default', () => {
    const accounts = accountsOf();
    expect([accounts.default, accounts.find(null)]).toEqual([undefined, undefined]);
  });

  test('a rotation replaces every account, and what was found before stays as it is', () => {
    const accounts = accountsOf(A, B);
    const found = accounts.find('b');
    accounts.replace([{ id: 'b', secret: 'new' }]);
    expect(accounts.find('b')).toEqual({ id: 'b', secret: 'new' });
    expect(accounts.default).toEqual({ id: 'b', secret: 'new' });
    expect(accounts.find('a')).toBeUndefined();
    expect(found).toEqual({ id: 'b', secret: 'old' });
  });
});
