import { expect, onTestFinished, test } from 'vitest';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { createContext, createTestClient, requestTo } from './support.ts';

/** The policies of one upstream service: one for each region. What a policy does is tested in policy.test.ts. */

async function start(status: number | undefined) {
  const upstream = await startUpstream((_received, response) => {
    if (status !== undefined) sendJson(response, status, {});
  });
  onTestFinished(upstream.stop);
  return upstream;
}

test('a region has a policy from its first call on, and its calls count there alone', async () => {
  const upstream = await start(undefined);
  const client = createTestClient({ upstreamMaxInFlight: 1, upstreamMaxQueue: 1 });
  onTestFinished(client.close);
  expect([...client.policyStates()]).toEqual([]);

  const context = createContext();
  const post = (region: string) => client.post({ ...requestTo(upstream.url, context), region });
  const calls = Promise.allSettled([post('GLB'), post('GLB'), post('NA')]);
  await expect(post('GLB')).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(new Map(client.policyStates())).toEqual(
    new Map([
      ['GLB', { inFlight: 1, queued: 1, isOpen: false }],
      ['NA', { inFlight: 1, queued: 0, isOpen: false }],
    ]),
  );

  context.cancellation.cancel(new Error('disconnected'));
  expect(await calls).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }, { status: 'rejected' }]);
  await expect
    .poll(() => [...client.policyStates()].map(([, { inFlight, queued }]) => [inFlight, queued]))
    .toEqual([
      [0, 0],
      [0, 0],
    ]);
});

test('faults open the circuit breaker of their own region, which is reported with its name', async () => {
  const upstream = await start(500);
  const changes: [string, string][] = [];
  const client = createTestClient({
    isFault: ({ status }) => status === 500,
    onBreaker: (region, state) => changes.push([region, state]),
  });
  onTestFinished(client.close);
  const post = (region: string) => client.post({ ...requestTo(upstream.url, createContext()), region });
  for (let call = 0; call < 20; call += 1) await post('GLB');
  await expect(post('GLB')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(await post('NA')).toMatchObject({ status: 500 });
  expect(changes).toEqual([['GLB', 'open']]);
  expect([...client.policyStates()].map(([region, { isOpen }]) => [region, isOpen])).toEqual([
    ['GLB', true],
    ['NA', false],
  ]);
});
